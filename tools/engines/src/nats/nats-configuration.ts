import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createUser, fromSeed } from '@nats-io/nkeys'
import { z } from 'zod'
import { EngineError, errorCode, reasonOf } from '../engine-error.ts'

/** Rights of a NATS user, in the server's own words. */
type NatsPermissions = {
  publish?: NatsSubjects
  subscribe?: NatsSubjects
}
type NatsSubjects = { allow?: readonly string[]; deny?: readonly string[] }

/**
 * A user of an account. With neither key nor password it gets a key pair of its own, made once per data
 * folder.
 */
type NatsUser = {
  name: string
  publicKey?: string
  password?: string
  permissions?: NatsPermissions
}

/**
 * Export of an account: a `service` takes requests of others and answers them, a `stream` shows them
 * messages. Both sides must name it: the account that exports and each that imports.
 */
type NatsExport = {
  kind: 'service' | 'stream'
  subject: string
  /** Accounts that may import it. */
  accounts: readonly string[]
  /** For a service: one request may have more than one answer. */
  manyAnswers?: boolean
}
type NatsImport = { kind: 'service' | 'stream'; account: string; subject: string }

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

type NatsConfiguration = {
  serverName: string
  port: number
  monitorPort: number
  storeFolder: string
  accounts: readonly NatsAccount[]
  cluster?: NatsCluster | undefined
  durable?: boolean
}

/**
 * The server's configuration as JSON, which its parser reads as it is, so that no value needs quoting of our
 * own; `undefined` leaves a setting out. Loopback only; if durable, every acknowledged message is on the disk
 * (`sync_interval: always`).
 */
export function renderConfiguration(configuration: NatsConfiguration): string {
  const { serverName, port, monitorPort, storeFolder, accounts, cluster, durable = true } = configuration
  const rendered = {
    server_name: serverName,
    listen: `127.0.0.1:${port}`,
    http: `127.0.0.1:${monitorPort}`,
    max_payload: 1_048_576,
    jetstream: { store_dir: storeFolder, sync_interval: durable ? 'always' : undefined },
    accounts: Object.fromEntries(accounts.map((account) => [account.name, renderAccount(account)])),
    cluster: cluster && {
      ...{ name: cluster.name, listen: `127.0.0.1:${cluster.port}`, routes: cluster.routes },
      ...{ ping_interval: '2s', ping_max: 2 },
    },
  }
  return `${JSON.stringify(rendered, null, 2)}\n`
}

function renderAccount({ users, jetstream = true, exports, imports }: NatsAccount): Record<string, unknown> {
  return {
    jetstream: jetstream ? 'enabled' : undefined,
    users: users.map(renderUser),
    exports: exports?.map(renderExport),
    imports: imports?.map(renderImport),
  }
}

function renderExport({ kind, subject, accounts, manyAnswers = false }: NatsExport): Record<string, unknown> {
  return { [kind]: subject, accounts, response_type: manyAnswers ? 'Stream' : undefined }
}

function renderImport({ kind, account, subject }: NatsImport): Record<string, unknown> {
  return { [kind]: { account, subject } }
}

function renderUser({ name, publicKey, password, permissions }: NatsUser): Record<string, unknown> {
  if (publicKey !== undefined) return { nkey: publicKey, permissions }
  if (password !== undefined) return { user: name, password, permissions }
  throw new Error(`NATS user ${name} has neither key nor password`)
}

const seedsFile = z.record(z.string(), z.string().startsWith('SU'))
const text = new TextDecoder()

/**
 * Gives every user without key or password a key pair, the same at each start: the seeds lie in the data
 * folder in `nkeys.json`, readable by its owner only.
 * @returns the accounts with public keys in place and the seeds by user name.
 */
export function withUserSeeds(
  dataDir: string,
  accounts: readonly NatsAccount[],
): { accounts: NatsAccount[]; seeds: Record<string, string> } {
  const kept = readUserSeeds(dataDir)
  const seeds: Record<string, string> = {}
  const keyed = accounts.map((account) => ({
    ...account,
    users: account.users.map((user) => {
      if (user.publicKey !== undefined || user.password !== undefined) return user
      const seed = seeds[user.name] ?? kept[user.name] ?? newUserSeed()
      seeds[user.name] = seed
      return { ...user, publicKey: publicKeyOf(seed) }
    }),
  }))
  const all = { ...kept, ...seeds }
  if (Object.keys(all).length > Object.keys(kept).length) writeUserSeeds(dataDir, all)
  return { accounts: keyed, seeds }
}

/** A seed that nobody has yet. */
export function newUserSeed(): string {
  return text.decode(createUser().getSeed())
}

export function publicKeyOf(seed: string): string {
  return fromSeed(new TextEncoder().encode(seed)).getPublicKey()
}

/** Replaces the seeds of a server's data folder, whole or not at all. */
export function writeUserSeeds(dataDir: string, seeds: Readonly<Record<string, string>>): void {
  const path = join(dataDir, 'nkeys.json')
  writeFileSync(`${path}.new`, `${JSON.stringify(seeds, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/**
 * The seeds by user name that a server's data folder holds; none when it has no file of them.
 * @throws EngineError when the file cannot be read as one
 */
export function readUserSeeds(dataDir: string): Record<string, string> {
  const path = join(dataDir, 'nkeys.json')
  try {
    return seedsFile.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {}
    throw new EngineError(`${path} cannot be read as the keys of this data folder: ${reasonOf(error)}`)
  }
}
