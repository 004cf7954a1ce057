import { sealedFields, type SealedPlace } from '@pitboss/storage/rewrite-seals'

/** Everything that auth seals: signing keys and secrets of second factors. */
export const sealedPlaces: readonly SealedPlace[] = [
  placeOf('signing_keys', 'sealedPrivateJwk', 'signing-key'),
  placeOf('users', 'totp.sealedSecret', 'totp'),
]

function placeOf(collection: string, path: string, what: string): SealedPlace {
  const filter = { [path]: { $type: 'string' } }
  return sealedFields({
    collection,
    purpose: 'auth',
    filter,
    paths: [path],
    aadOf: ({ _id }) => `${what}/${_id}`,
  })
}
