import type { Db } from 'mongodb'
import type {
  AuditDocument,
  BrandDocument,
  CredentialDocument,
  OperatorDocument,
  PlatformDocument,
  RefreshDocument,
  RequestLogDocument,
  SigningKeyDocument,
  UserDocument,
} from './documents.ts'

/** The typed collections of auth's database. */
export function authCollections(db: Db) {
  return {
    operators: db.collection<OperatorDocument>('operators'),
    platform: db.collection<PlatformDocument>('platform'),
    brands: db.collection<BrandDocument>('brands'),
    credentials: db.collection<CredentialDocument>('credentials'),
    users: db.collection<UserDocument>('users'),
    refreshTokens: db.collection<RefreshDocument>('refresh_tokens'),
    signingKeys: db.collection<SigningKeyDocument>('signing_keys'),
    requestLogs: db.collection<RequestLogDocument>('request_logs'),
    audits: db.collection<AuditDocument>('audits'),
  }
}
export type AuthCollections = ReturnType<typeof authCollections>
