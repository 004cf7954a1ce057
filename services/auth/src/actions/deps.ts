import type { Bus } from '@pitboss/bus/connect-bus'
import type { Clock } from '@pitboss/runtime/clock'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import type { SecretBox } from '@pitboss/storage/stored-secrets'
import type { KeyedHash } from './keyed-hash.ts'
import type { Logger } from 'pino'
import type { AuthStores } from '../storage/auth-stores.ts'
import type { TakeAudit } from './take-audit.ts'
import type { Passwords } from './passwords.ts'
import type { PublishAccessChange } from './publish-access-change.ts'
import type { TokenSigner } from './token-signer.ts'

/** The parts that app.ts opens once; each action takes those it names. */
export type AuthDeps = {
  stores: AuthStores
  bus: Bus
  publishAccessChange: PublishAccessChange
  audit: AuditOutbox
  takeAudit: TakeAudit
  passwords: Passwords
  signer: TokenSigner
  secretHash: KeyedHash
  tokenHash: KeyedHash
  box: SecretBox
  clock: Clock
  newId: (prefix: string) => string
  random: (size: number) => Uint8Array
  baseUrl: string
  tokenTtlS: number
  /** Most key pairs and people of an account. */
  caps: { readonly keys: number; readonly people: number }
  /** Milliseconds from a person's creation until he approves grave acts. */
  approverAgeMs: number
  logger: Pick<Logger, 'info' | 'warn'>
}
