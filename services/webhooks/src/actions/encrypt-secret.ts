import type { SecretBox } from '@pitboss/storage/stored-secrets'
import type { StoredSecret } from '../rules/signing-secrets.ts'
import type { EndpointDocument } from '../storage/documents.ts'

type Owner = Pick<EndpointDocument, '_id' | 'operatorId' | 'environment'>

export type SecretCipher = ReturnType<typeof createSecretCipher>

/**
 * Encrypts and decrypts the signing secrets of endpoints. An encrypted secret is bound to its endpoint:
 * copied to another one, it does not decrypt.
 */
export function createSecretCipher(box: SecretBox) {
  const boundTo = ({ _id, operatorId, environment }: Owner) => `webhook/${operatorId}/${environment}/${_id}`
  return {
    encrypt: (owner: Owner, secret: string): string => box.seal(secret, boundTo(owner)),
    /** @throws Error for a secret of another endpoint */
    decrypt: (owner: Owner, { sealed }: StoredSecret): string => box.open(sealed, boundTo(owner)),
  }
}
