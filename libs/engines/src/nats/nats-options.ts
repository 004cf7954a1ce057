/** What a NATS user may do, in the server's own words. */
export type NatsPermissions = {
  publish?: NatsSubjects
  subscribe?: NatsSubjects
}
export type NatsSubjects = { allow?: readonly string[]; deny?: readonly string[] }

/**
 * A user of an account. With neither key nor password it gets a key pair of its own, made once per data folder.
 */
export type NatsUser = {
  name: string
  publicKey?: string
  password?: string
  permissions?: NatsPermissions
}

export type NatsAccount = { name: string; users: readonly NatsUser[] }

/** Other servers of the same cluster. */
export type NatsCluster = { name: string; port: number; routes: readonly string[] }
