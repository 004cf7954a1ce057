import type { Db } from 'mongodb'
import type {
  AuditDocument,
  OperatorDocument,
  PlatformDocument,
  RefreshDocument,
  SigningKeyDocument,
} from './documents.ts'

/** What has no tenant: accounts themselves, and what the platform keeps. What accounts have is in `authStores`. */
export function authCollections(db: Db) {
  return {
    operators: db.collection<OperatorDocument>('operators'),
    platform: db.collection<PlatformDocument>('platform'),
    refreshTokens: db.collection<RefreshDocument>('refresh_tokens'),
    signingKeys: db.collection<SigningKeyDocument>('signing_keys'),
    audits: db.collection<AuditDocument>('audits'),
  }
}
export type AuthCollections = ReturnType<typeof authCollections>
