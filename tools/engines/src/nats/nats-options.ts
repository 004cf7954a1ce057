/** Rights of a NATS user, in the server's own words. */
type NatsPermissions = {
  publish?: NatsSubjects
  subscribe?: NatsSubjects
}
export type NatsSubjects = { allow?: readonly string[]; deny?: readonly string[] }

/**
 * A user of an account. With neither key nor password it gets a key pair of its own, made once per data
 * folder.
 */
export type NatsUser = {
  name: string
  publicKey?: string
  password?: string
  permissions?: NatsPermissions
}

/**
 * Export of an account: a `service` takes requests of others and answers them, a `stream` shows them
 * messages. Both sides must name it: the account that exports and each that imports.
 */
export type NatsExport = {
  kind: 'service' | 'stream'
  subject: string
  /** Accounts that may import it. */
  accounts: readonly string[]
  /** For a service: one request may have more than one answer. */
  manyAnswers?: boolean
}
export type NatsImport = { kind: 'service' | 'stream'; account: string; subject: string }

/** Subjects of one account are none of another's, but for what is exported and imported. */
export type NatsAccount = {
  name: string
  users: readonly NatsUser[]
  /** Whether it has streams of its own; it has unless told. */
  jetstream?: boolean
  exports?: readonly NatsExport[]
  imports?: readonly NatsImport[]
}

/** Other servers of the same cluster. */
export type NatsCluster = { name: string; port: number; routes: readonly string[] }
