import type { CursorCodec } from '@pitboss/storage/cursor'
import type { Db } from 'mongodb'
import { createAuditsStore } from './audits-store.ts'
import { createBrandsStore } from './brands-store.ts'
import { createCredentialsStore } from './credentials-store.ts'
import { createIdempotencyStore } from './idempotency-store.ts'
import { createOperatorsStore } from './operators-store.ts'
import { createPeopleStore } from './people-store.ts'
import { createPlatformStore } from './platform-store.ts'
import { createRefreshTokensStore } from './refresh-tokens-store.ts'
import { createRequestLogsStore } from './request-logs-store.ts'
import { createSigningKeysStore } from './signing-keys-store.ts'

/** Every store of auth. A method that takes a scope or an account answers for that one alone. */
export function authStores(from: { db: Db; cursors: CursorCodec }) {
  return {
    audits: createAuditsStore(from),
    brands: createBrandsStore(from),
    credentials: createCredentialsStore(from),
    idempotency: createIdempotencyStore(from),
    operators: createOperatorsStore(from),
    people: createPeopleStore(from),
    platform: createPlatformStore(from),
    refreshTokens: createRefreshTokensStore(from),
    requestLogs: createRequestLogsStore(from),
    signingKeys: createSigningKeysStore(from),
  }
}
export type AuthStores = ReturnType<typeof authStores>
