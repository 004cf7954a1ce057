import type { SecretBox } from '@pitboss/storage/secret-box'
import type { EndpointDocument } from '../storage/documents.ts'
import type { StoredSecret } from '../rules/signing-secrets.ts'

type Owner = Pick<EndpointDocument, '_id' | 'operatorId' | 'environment'>
export type OpenSecret = (owner: Owner, secret: StoredSecret) => string

/** Decrypts an endpoint's signing secrets; one that was moved here from another endpoint does not open. */
export function createOpenSecret(box: SecretBox): OpenSecret {
  return (owner, { sealed }) => box.open(sealed, secretOwnerText(owner))
}

/** What a sealed secret is bound to. */
export function secretOwnerText({ _id, operatorId, environment }: Owner): string {
  return `webhook/${operatorId}/${environment}/${_id}`
}
