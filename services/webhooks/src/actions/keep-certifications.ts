import type { ActedBy } from '@pitboss/contracts/audit'
import { newProgress } from '@pitboss/contracts/certification/progress'
import { receiverCases } from '@pitboss/contracts/certification/receiver/receiver-cases'
import { ServiceError } from '@pitboss/errors/service-error'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import { readPage } from '@pitboss/storage/read-page'
import { z } from 'zod'
import { presentCertificationSummary } from '../records/present-certification.ts'
import type { CertificationDocument } from '../storage/certification-store.ts'
import type { CallDeps } from './deps.ts'
import { type EndpointTarget, findEndpoint } from './read-endpoints.ts'

/** Certifications of receivers: the order and what became of it. Source: docs/contract.md, section 3. */
export function createKeepCertifications({
  endpoints,
  certifications,
  cursors,
  audit,
  clock,
  newId,
  notifyCertifier,
}: CallDeps) {
  return {
    /**
     * Orders a certification of a TEST endpoint's receiver, paused or not.
     * @throws ServiceError NOT_FOUND; CONFLICT for a LIVE endpoint, and while one runs
     */
    async start(target: EndpointTarget, by: ActedBy): Promise<CertificationDocument> {
      const endpoint = await findEndpoint(endpoints, target)
      const { operatorId, environment, _id: subject, url } = endpoint
      if (environment !== 'SANDBOX') {
        const message =
          'Events that were made up are not sent to a LIVE endpoint: its receiver would count them.'
        throw new ServiceError('CONFLICT', { message })
      }
      const job: CertificationDocument = {
        ...{ _id: newId('crt'), operatorId, environment, subject, status: 'RUNNING' },
        ...{ claimedUntil: new Date(0), claimToken: 0, createdAt: clock.now(), finishedAt: null },
        ...newProgress(url, receiverCases.length),
        secretCreatedAt: endpoint.secrets[0]?.createdAt ?? endpoint.createdAt,
      }
      const object = { type: 'endpoint', id: subject }
      const after = presentCertificationSummary(job)
      const entry = audit.entry(by, { act: 'endpoint.certify', object, before: null, after })
      if (!(await certifications.insert({ ...job, ...auditedInsert(entry) }))) {
        const running = await certifications.findRunning(endpoint, subject)
        const named =
          running === null ? 'A certification of this endpoint' : `The certification ${running._id}`
        throw new ServiceError('CONFLICT', { message: `${named} is under way. Wait for its end.` })
      }
      notifyCertifier()
      return job
    },

    /** @throws ServiceError NOT_FOUND */
    async find(target: EndpointTarget, id: string): Promise<CertificationDocument> {
      const endpoint = await findEndpoint(endpoints, target)
      const found = await certifications.find(endpoint, endpoint._id, id)
      if (found === null) throw new ServiceError('NOT_FOUND')
      return found
    },

    /**
     * Newest first, without their cases. @throws ServiceError NOT_FOUND; VALIDATION_ERROR for a bad cursor
     */
    async list(target: EndpointTarget, query: { limit: number; cursor?: string | undefined }) {
      const endpoint = await findEndpoint(endpoints, target)
      return readPage({
        ...{ cursors, binding: ['certifications', endpoint._id], query, position: z.string() },
        read: (before, limit) => certifications.list(endpoint, endpoint._id, { before, limit }, 'cases'),
        positionOf: ({ _id }) => _id,
      })
    },
  }
}
