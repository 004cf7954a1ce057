import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import { createChangeCredential } from '../actions/change-credential.ts'
import { createCreateCredential } from '../actions/create-credential.ts'
import type { AuthDeps } from '../actions/deps.ts'
import { createReadCredentials } from '../actions/read-credentials.ts'
import { toPublicCredential } from '../records/credential-view.ts'

/** Key pairs of the account. Source: docs/contract.md, sections 3 and 11. */
export function credentialCalls(deps: AuthDeps): CallHandler[] {
  const changeCredential = createChangeCredential(deps)
  const createCredential = createCreateCredential(deps)
  const readCredentials = createReadCredentials(deps)
  return [
    handler(endpoints.listCredentials.call, async ({ caller, query }) => {
      const { rows, nextCursor } = await readCredentials.list(caller.scope, query)
      return { status: 200, body: { data: rows.map(toPublicCredential), next_cursor: nextCursor } }
    }),
    handler(endpoints.createCredential.call, async ({ caller, body }) => {
      const { credential, secret } = await createCredential(caller, body)
      const shown = toPublicCredential(credential)
      return { status: 201, body: secret === null ? shown : { ...shown, api_secret: secret } }
    }),
    handler(endpoints.getCredential.call, async ({ caller, params }) => {
      const { found } = await readCredentials.find(caller, params.api_key)
      return { status: 200, body: toPublicCredential(found) }
    }),
    handler(endpoints.patchCredential.call, async ({ caller, params, body }) => {
      const changed = await changeCredential.patch(caller, params.api_key, body)
      return { status: 200, body: toPublicCredential(changed) }
    }),
    handler(endpoints.rotateCredential.call, async ({ caller, params }) => {
      const { credential, secret } = await changeCredential.rotate(caller, params.api_key)
      return { status: 200, body: { ...toPublicCredential(credential), api_secret: secret } }
    }),
    handler(endpoints.revokeCredential.call, async ({ caller, params }) => {
      const revoked = await changeCredential.revoke(caller, params.api_key)
      return { status: 200, body: toPublicCredential(revoked) }
    }),
    handler(endpoints.deleteCredential.call, async ({ caller, params }) => {
      await changeCredential.remove(caller, params.api_key)
      return { status: 204, body: null }
    }),
  ]
}
