import type { ActedBy } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import { receiverCases } from '@pitboss/contracts/certification/receiver/receiver-cases'
import { ServiceError } from '@pitboss/errors/service-error'
import { newCertification } from '@pitboss/storage/certification-jobs'
import type { PageQuery } from '@pitboss/storage/read-page'
import { type EndpointTarget, findEndpoint } from '../../../actions/read-endpoints.ts'
import type { CertificationContext } from '../context.ts'
import type { CertificationDocument } from '../storage/certification-store.ts'

/* Certifications of receivers. Each throws ServiceError NOT_FOUND. Source: docs/contract.md, section 3. */

export async function findCertification(
  { endpoints, certifications }: CertificationContext,
  target: EndpointTarget,
  id: string,
): Promise<CertificationDocument> {
  const endpoint = await findEndpoint(endpoints, target)
  return certifications.find([endpoint], id, endpoint._id)
}

/** Orders a certification. @throws ServiceError CONFLICT for a LIVE endpoint, and while one runs */
export async function startCertification(
  { endpoints, certifications, clock, newId }: CertificationContext,
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
  return certifications.order(job, by, { act: 'endpoint.certify', object })
}

/** Reads the endpoint, which is there still, of a certification. */
export async function certifiedEndpoint(
  { endpoints, certifications }: CertificationContext,
  scope: Scope,
  id: string,
): Promise<string> {
  const { subject } = await certifications.find([scope], id)
  return (await findEndpoint(endpoints, { scopes: [scope], webhookId: subject }))._id
}

/** Reads a page, newest first, without their cases. @throws ServiceError VALIDATION_ERROR for a bad cursor */
export async function listCertifications(
  { endpoints, certifications }: CertificationContext,
  target: EndpointTarget,
  query: PageQuery,
) {
  const endpoint = await findEndpoint(endpoints, target)
  return certifications.list(endpoint, endpoint._id, query)
}
