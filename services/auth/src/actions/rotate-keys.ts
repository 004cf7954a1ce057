import type { opsRotateKeys } from '@pitboss/contracts/calls/auth-ops'
import type { z } from 'zod'
import { createAppendAudit } from './append-audit.ts'
import type { AuthDeps } from './deps.ts'

/** Makes a new current signing key on an order. Source: docs/contract.md, sections 3 and 10. */
export function createRotateKeys(deps: AuthDeps) {
  const { signer, publishAccessChange } = deps
  const audit = createAppendAudit(deps)

  /** @returns the keys that verify, the current one first */
  return async function rotate({ order }: z.infer<typeof opsRotateKeys.request>) {
    if (!order.dryRun) {
      await signer.rotate()
      await audit.append({ ...order, what: 'keys.rotate', target: null, details: {} })
      await publishAccessChange.keys()
    }
    return signer.keys()
  }
}
