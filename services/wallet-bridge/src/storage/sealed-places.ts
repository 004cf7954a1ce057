import type { SealedPlace } from '@pitboss/storage/rewrite-seals'

/** Everything that wallet-bridge seals: the signing secrets of wallets. */
export const sealedPlaces: readonly SealedPlace[] = [
  {
    collection: 'wallets',
    purpose: 'secret-box',
    filter: {},
    holding: (range) => ({ sealedSecret: range }),
    valuesIn: ({ _id, sealedSecret }) => [
      { path: 'sealedSecret', sealed: String(sealedSecret), aad: `wallet-secret/${_id}` },
    ],
  },
]
