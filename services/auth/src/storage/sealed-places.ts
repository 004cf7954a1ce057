import type { SealedPlace } from '@pitboss/storage/rewrite-seals'
import type { Document } from 'mongodb'

/** Everything that auth seals: signing keys and secrets of second factors. */
export const sealedPlaces: readonly SealedPlace[] = [
  placeOf('signing_keys', 'sealedPrivateJwk', (id) => `signing-key/${id}`),
  placeOf('users', 'totp.sealedSecret', (id) => `totp/${id}`),
]

function placeOf(collection: string, path: string, aadOf: (id: string) => string): SealedPlace {
  return {
    collection,
    purpose: 'auth',
    filter: { [path]: { $type: 'string' } },
    holding: (range) => ({ [path]: range }),
    valuesIn(document) {
      const sealed: unknown = path.split('.').reduce<Document>((part, name) => part[name], document)
      return typeof sealed === 'string' ? [{ path, sealed, aad: aadOf(String(document._id)) }] : []
    },
  }
}
