import type { ActedBy } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import { receiverCases } from '@pitboss/contracts/certification/receiver/receiver-cases'
import { ServiceError } from '@pitboss/errors/service-error'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import {
  cancelCertification as cancelJob,
  newCertification,
  orderCertification,
} from '@pitboss/storage/certification-jobs'
import { readPage } from '@pitboss/storage/read-page'
import { presentCertificationSummary } from '../records/webhook-records.ts'
import type { CertificationDocument } from '../storage/certification-store.ts'
import type { CallsContext } from '../context.ts'
import { type EndpointTarget, findEndpoint } from './read-endpoints.ts'

/* Certifications of receivers. Each throws ServiceError NOT_FOUND. Source: docs/contract.md, section 3. */

export async function findCertification(
  { endpoints, certifications }: CallsContext,
  target: EndpointTarget,
  id: string,
): Promise<CertificationDocument> {
  const endpoint = await findEndpoint(endpoints, target)
  const found = await certifications.find(endpoint, endpoint._id, id)
  if (found === null) throw new ServiceError('NOT_FOUND')
  return found
}

/** Orders a certification. @throws ServiceError CONFLICT for a LIVE endpoint, and while one runs */
export async function startCertification(
  { endpoints, certifications, audit, clock, newId, notifyCertifier }: CallsContext,
  target: EndpointTarget,
  by: ActedBy,
): Promise<CertificationDocument> {
  const endpoint = await findEndpoint(endpoints, target)
  const { environment, _id: subject, url } = endpoint
  if (environment !== 'SANDBOX') {
    const message = 'Events that were made up are not sent to a LIVE endpoint: its receiver would count them.'
    throw new ServiceError('CONFLICT', { message })
  }
  const job: CertificationDocument = {
    ...newCertification({
      ...{ id: newId('crt'), scope: endpoint, subject },
      ...{ url, casesTotal: receiverCases.length, now: clock.now() },
    }),
    secretCreatedAt: endpoint.secrets[0]?.createdAt ?? endpoint.createdAt,
  }
  const object = { type: 'endpoint', id: subject }
  const after = presentCertificationSummary(job)
  const entry = audit.entry(by, { act: 'endpoint.certify', object, before: null, after })
  await orderCertification(certifications, { ...job, ...auditedInsert(entry) }, 'endpoint')
  notifyCertifier()
  return job
}

/** Ends one that runs; one that has ended stays as it is. */
export async function cancelCertification(
  c: CallsContext,
  target: EndpointTarget,
  id: string,
  by: ActedBy,
): Promise<CertificationDocument> {
  const job = await findCertification(c, target, id)
  const object = { type: 'certification', id }
  const before = presentCertificationSummary(job)
  return cancelJob(c.certifications, job, c.clock.now(), (ended) => {
    const after = presentCertificationSummary(ended)
    return c.audit.entry(by, { act: 'certification.cancel', object, before, after })
  })
}

/** Reads the endpoint, which is there still, of a certification. */
export async function certifiedEndpoint(
  { endpoints, certifications }: CallsContext,
  scope: Scope,
  id: string,
): Promise<string> {
  const found = await certifications.findById(scope, id)
  if (found === null) throw new ServiceError('NOT_FOUND')
  return (await findEndpoint(endpoints, { scopes: [scope], webhookId: found.subject }))._id
}

/** Reads a page, newest first, without their cases. @throws ServiceError VALIDATION_ERROR for a bad cursor */
export async function listCertifications(
  { endpoints, certifications, cursors }: CallsContext,
  target: EndpointTarget,
  query: { limit: number; cursor?: string | undefined },
) {
  const endpoint = await findEndpoint(endpoints, target)
  return readPage({
    ...{ cursors, binding: ['certifications', endpoint._id], query },
    read: (before, limit) => certifications.list(endpoint, endpoint._id, { before, limit }, 'cases'),
    positionOf: ({ _id }) => _id,
  })
}
