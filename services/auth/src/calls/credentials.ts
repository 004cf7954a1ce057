import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import { createChangeCredentials } from '../actions/change-credentials.ts'
import type { AuthDeps } from '../actions/deps.ts'
import { toPublicCredential, toPublicPage } from '../records/account-view.ts'

/** Key pairs of the account. Source: docs/contract.md, sections 3 and 11. */
export function credentialCalls(deps: AuthDeps): CallHandler[] {
  const { credentials } = deps.stores
  const changeCredentials = createChangeCredentials(deps)
  return [
    handler(endpoints.listCredentials.call, async ({ caller, query }) => ({
      status: 200,
      body: toPublicPage(await credentials.page(caller.scope, query), toPublicCredential),
    })),
    handler(endpoints.createCredential.call, async ({ caller, body }, context) => {
      const { credential, secret } = await changeCredentials.create(caller, body, actedBy(caller, context))
      const shown = toPublicCredential(credential)
      return { status: 201, body: secret === null ? shown : { ...shown, api_secret: secret } }
    }),
    handler(endpoints.getCredential.call, async ({ caller, params }) => ({
      status: 200,
      body: toPublicCredential((await changeCredentials.find(caller, params.api_key)).found),
    })),
    handler(endpoints.patchCredential.call, async ({ caller, params, body }, context) => ({
      status: 200,
      body: toPublicCredential(
        await changeCredentials.patch(caller, params.api_key, body, actedBy(caller, context)),
      ),
    })),
    handler(endpoints.rotateCredential.call, async ({ caller, params }, context) => {
      const by = actedBy(caller, context)
      const { credential, secret } = await changeCredentials.rotate(caller, params.api_key, by)
      return { status: 200, body: { ...toPublicCredential(credential), api_secret: secret } }
    }),
    handler(endpoints.revokeCredential.call, async ({ caller, params }, context) => ({
      status: 200,
      body: toPublicCredential(
        await changeCredentials.revoke(caller, params.api_key, actedBy(caller, context)),
      ),
    })),
    handler(endpoints.deleteCredential.call, async ({ caller, params }, context) => {
      await changeCredentials.remove(caller, params.api_key, actedBy(caller, context))
      return { status: 204, body: null }
    }),
  ]
}
