import type { CursorCodec } from '@pitboss/storage/cursor'
import type { Db } from 'mongodb'
import { createBrandsStore } from './brands-store.ts'
import { createCredentialsStore } from './credentials-store.ts'
import { createPeopleStore } from './people-store.ts'
import { createRequestLogsStore } from './request-logs-store.ts'

/** All that accounts have here; each method says whose it wants. */
export function authStores(from: { db: Db; cursors: CursorCodec }) {
  return {
    brands: createBrandsStore(from),
    credentials: createCredentialsStore(from),
    people: createPeopleStore(from),
    requestLogs: createRequestLogsStore(from),
  }
}
export type AuthStores = ReturnType<typeof authStores>
