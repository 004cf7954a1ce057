import type { SealedPlace } from '@pitboss/storage/rewrite-seals'
import type { Document } from 'mongodb'

export const sealedSecrets: readonly SealedPlace[] = [
  {
    collection: 'endpoints',
    purpose: 'webhook-secret',
    filter: {},
    holding: (range) => ({ secrets: { $elemMatch: { sealed: range } } }),
    valuesIn: ({ _id, operatorId, environment, secrets }) =>
      secrets.map(({ sealed }: Document, index: number) => ({
        path: `secrets.${index}.sealed`,
        sealed: String(sealed),
        aad: `webhook/${operatorId}/${environment}/${_id}`,
      })),
  },
]
