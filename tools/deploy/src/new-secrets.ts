import { newUserSeed, publicKeyOf } from '@pitboss/engines/nats/nats-configuration'
import { type NatsUser, natsUsers } from '@pitboss/stack/nats/permissions'
import { publicKeyVariable } from './nats-accounts.ts'

const stored: readonly NatsUser[] = ['auth', 'rounds', 'wallet-bridge', 'webhooks']
const keyBytes = 32
const passwordBytes = 24

/** A Secret or a ConfigMap. */
export type SecretsManifest = {
  readonly apiVersion: 'v1'
  readonly kind: 'Secret' | 'ConfigMap'
  readonly metadata: { readonly name: string; readonly namespace: string }
} & ({ readonly stringData: Record<string, string> } | { readonly data: Record<string, string> })

/**
 * New secrets of an installation, as manifests: for each service its NATS key, and, if it has a database, its
 * address of MongoDB and its master key; for NATS the users' public keys; for MongoDB's administrator the
 * script that makes the users. `{user}` and `{password}` in `mongodbUrl` stand for those of the service;
 * without them all services get the same address and no script is made. Source: ours.
 */
export function newSecrets({
  namespace,
  mongodbUrl,
  prefix,
  random,
}: {
  namespace: string
  mongodbUrl: string
  /** First part of the names of databases and users. */
  prefix: string
  random: (bytes: number) => Buffer
}): SecretsManifest[] {
  const named = (name: string) => ({ name, namespace })
  const seeds = new Map(natsUsers.map((user) => [user, newUserSeed()]))
  const logins = stored.map((service) => ({
    service,
    user: `${prefix}_${service.replaceAll('-', '_')}`,
    password: random(passwordBytes).toString('base64url'),
  }))
  const ofDatabase = new Map(
    logins.map(({ service, user, password }) => [
      service,
      {
        MONGODB_URL: mongodbUrl.replaceAll('{user}', user).replaceAll('{password}', password),
        PITBOSS_MASTER_KEYS: `${service}-1:${random(keyBytes).toString('base64')}`,
      },
    ]),
  )
  const secrets = [...seeds].map(
    ([user, seed]): SecretsManifest => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: named(`${user}-secrets`),
      stringData: { NATS_NKEY_SEED: seed, ...ofDatabase.get(user) },
    }),
  )
  const publicKeys: SecretsManifest = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: named('nats-users'),
    data: Object.fromEntries([...seeds].map(([user, seed]) => [publicKeyVariable(user), publicKeyOf(seed)])),
  }
  if (!mongodbUrl.includes('{password}')) return [...secrets, publicKeys]
  const script: SecretsManifest = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: named('mongodb-users'),
    stringData: { 'create-users.js': logins.map(createUser).join('') },
  }
  return [...secrets, publicKeys, script]
}

function createUser({ user, password }: { user: string; password: string }): string {
  const order = { user, pwd: password, roles: [{ role: 'readWrite', db: user }] }
  return `db.getSiblingDB(${JSON.stringify(user)}).createUser(${JSON.stringify(order)})\n`
}
