import { randomBytes } from 'node:crypto'
import { runInNewContext } from 'node:vm'
import { publicKeyOf } from '@pitboss/engines/nats/nats-configuration'
import { natsUsers } from '@pitboss/stack/nats/permissions'
import t from 'tap'
import { newSecrets } from '../src/new-secrets.ts'
import { publicKeyVariable } from '../src/nats-accounts.ts'

const stored = ['auth', 'rounds', 'wallet-bridge', 'webhooks']
const make = (mongodbUrl: string) => {
  const made = newSecrets({ namespace: 'casino', mongodbUrl, prefix: 'pb', random: randomBytes })
  return new Map(made.map((one) => [one.metadata.name, 'data' in one ? one.data : one.stringData]))
}

t.test('each service gets keys and a login that nobody else has', async (t) => {
  const made = make('mongodb://{user}:{password}@host/?authSource={user}')
  const publicKeys = made.get('nats-users') ?? {}
  for (const user of natsUsers) {
    const seed = made.get(`${user}-secrets`)?.NATS_NKEY_SEED ?? ''
    t.equal(publicKeys[publicKeyVariable(user)], publicKeyOf(seed), user)
  }
  for (const name of ['NATS_NKEY_SEED', 'MONGODB_URL', 'PITBOSS_MASTER_KEYS']) {
    const values = [...made.values()].flatMap((one) => one[name] ?? [])
    t.equal(new Set(values).size, name === 'NATS_NKEY_SEED' ? natsUsers.length : stored.length, name)
  }
  t.match(
    made.get('wallet-bridge-secrets')?.MONGODB_URL,
    /^mongodb:\/\/pb_wallet_bridge:[\w-]{32}@host\/\?authSource=pb_wallet_bridge$/,
  )
  t.match(made.get('wallet-bridge-secrets')?.PITBOSS_MASTER_KEYS, /^wallet-bridge-1:[A-Za-z0-9+/]{43}=$/)
})

t.test('the script makes the users that the addresses name, each for its own database', async (t) => {
  const made = make('mongodb://{user}:{password}@host/?authSource={user}')
  const users = new Map<string, { pwd: string; roles: unknown }>()
  const db = {
    getSiblingDB: (database: string) => ({
      createUser: ({ user, pwd, roles }: { user: string; pwd: string; roles: unknown }) => {
        t.equal(user, database)
        users.set(user, { pwd, roles })
      },
    }),
  }
  runInNewContext(made.get('mongodb-users')?.['create-users.js'] ?? '', { db })
  t.equal(users.size, stored.length)
  for (const service of stored) {
    const { username, password } = new URL(made.get(`${service}-secrets`)?.MONGODB_URL ?? '')
    t.match(users.get(username), { pwd: password, roles: [{ role: 'readWrite', db: username }] })
  }
})

t.test('a database without logins gets no script', async (t) => {
  const made = make('mongodb://mongodb:27017/?replicaSet=rs0')
  t.equal(made.has('mongodb-users'), false)
  t.equal(made.get('auth-secrets')?.MONGODB_URL, 'mongodb://mongodb:27017/?replicaSet=rs0')
})
