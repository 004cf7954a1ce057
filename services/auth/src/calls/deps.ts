import type { Bus } from '@pitboss/bus/connect-bus'
import type { Clock } from '@pitboss/runtime/clock'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { KeyedHash } from '@pitboss/storage/keyed-hash'
import type { SecretBox } from '@pitboss/storage/secret-box'
import type { Db } from 'mongodb'
import type { AccessNews } from '../actions/publish-access-change.ts'
import type { Passwords } from '../actions/passwords.ts'
import type { TokenSigner } from '../actions/token-signer.ts'
import type { AuthStores } from '../storage/auth-stores.ts'
import type { AuthCollections } from '../storage/collections.ts'

/** What the handlers of auth work with. */
export type AuthDeps = {
  db: Db
  collections: AuthCollections
  stores: AuthStores
  bus: Bus
  news: AccessNews
  passwords: Passwords
  signer: TokenSigner
  secretHash: KeyedHash
  tokenHash: KeyedHash
  box: SecretBox
  cursors: CursorCodec
  clock: Clock
  newId: (prefix: string) => string
  random: (size: number) => Uint8Array
  baseUrl: string
  tokenTtlS: number
}
