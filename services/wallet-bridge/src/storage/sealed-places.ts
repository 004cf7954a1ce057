import type { SealedPlace } from '@pitboss/storage/rewrite-seals'
import { z } from 'zod'

const formerSecretSchema = z.object({ sealed: z.string() })

export const sealedSecrets: readonly SealedPlace[] = [
  {
    collection: 'wallets',
    purpose: 'secret-box',
    filter: {},
    holding: (range) => ({ $or: [{ sealedSecret: range }, { 'formerSecret.sealed': range }] }),
    valuesIn: ({ _id, sealedSecret, formerSecret }) => {
      const aad = `wallet-secret/${_id}`
      const former = formerSecretSchema.safeParse(formerSecret).data
      return [
        { path: 'sealedSecret', sealed: String(sealedSecret), aad },
        ...(former === undefined ? [] : [{ path: 'formerSecret.sealed', sealed: former.sealed, aad }]),
      ]
    },
  },
]
