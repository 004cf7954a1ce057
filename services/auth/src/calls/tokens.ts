import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import * as calls from '@pitboss/contracts/calls/auth'
import { stopRecordType } from '@pitboss/contracts/token-claims'
import type { AuthDeps } from '../actions/deps.ts'
import { createMintToken } from '../actions/mint-token.ts'
import { createResolvePrincipal } from '../actions/resolve-principal.ts'

/** Tokens, their subjects and the keys that sign them. Source: docs/contract.md, sections 3 and 11. */
export function tokenCalls(deps: AuthDeps): CallHandler[] {
  const { signer } = deps
  const mintToken = createMintToken(deps)
  const resolvePrincipal = createResolvePrincipal(deps)
  return [
    handler(calls.mintToken, (request) => mintToken.forCredential(request)),
    handler(calls.mintLaunchToken, async (request) => ({ token: await mintToken.forSession(request) })),
    handler(calls.resolvePrincipal, (request) => resolvePrincipal(request)),
    handler(calls.listPublicKeys, async () => ({
      keys: (await signer.keys()).map((key) => key.publicJwk),
    })),
    handler(calls.signDocument, async ({ typ, payload }) => ({
      jws: await signer.signDocument(typ, JSON.stringify(payload)),
    })),
    handler(calls.listRecordKeys, async () => ({
      keys: (await signer.recordKeys()).map((key) => key.publicJwk),
    })),
    handler(calls.signStopRecord, async ({ text }) => ({
      jws: await signer.signDocument(stopRecordType, text),
    })),
  ]
}
