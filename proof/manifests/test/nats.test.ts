import { readFileSync } from 'node:fs'
import { jetstreamManager } from '@nats-io/jetstream'
import { applyTopology } from '@pitboss/bus/apply-topology'
import { connectionOptions } from '@pitboss/bus/connection-options'
import { topology } from '@pitboss/bus/topology'
import { renderNatsAccounts } from '@pitboss/deploy/nats-accounts'
import { newUserSeed } from '@pitboss/engines/nats/nats-configuration'
import { natsUsers } from '@pitboss/stack/nats/permissions'
import { connect } from 'nats'
import t from 'tap'
import { z } from 'zod'
import { manifestsFolder, renderOverlay } from '../src/render-folder.ts'
import { publicKeys, sampleSecrets } from './fixtures/sample-secrets.ts'
import { refusalOfNats, withNatsCluster } from './fixtures/with-nats-cluster.ts'

const configuration = (await renderOverlay('dev')).find(({ metadata }) =>
  metadata.name.startsWith('nats-configuration'),
)
const files = z.looseObject({ data: z.record(z.string(), z.string()) }).parse(configuration).data

t.test('the accounts are those of this release', async (t) => {
  const written = readFileSync(`${manifestsFolder}/nats/accounts.conf`, 'utf8')
  t.equal(written, renderNatsAccounts(), 'npm run deploy:accounts writes the file')
})

t.test('three servers keep each stream, and every user comes in with the key of its Secret', async (t) => {
  const url = await withNatsCluster(t, files, publicKeys)
  // As a service connects: it comes again when a busy server closes on it.
  const open = (user: string, nkeySeed = sampleSecrets[`${user}-secrets`]?.NATS_NKEY_SEED) =>
    connect(connectionOptions({ url, nkeySeed, service: user }))
  for (const user of natsUsers) await (await open(user)).close()
  await t.rejects(open('auth', newUserSeed()), /authorization/i, 'a key that nobody has')

  const ops = await open('ops')
  await applyTopology(ops, { replicas: 3 })
  const manager = await jetstreamManager(ops)
  for (const { name } of topology.streams) {
    const { config, cluster } = await manager.streams.info(name)
    t.equal(config.num_replicas, 3, name)
    t.equal(cluster?.replicas?.length, 2, `${name} has two followers`)
  }
  const gateway = await open('gateway')
  await t.rejects(jetstreamManager(gateway), 'the gateway has no right to the streams')
  await Promise.all([ops.close(), gateway.close()])
})

t.test('a configuration that no server takes is found', async (t) => {
  t.equal(await refusalOfNats(t.testdir(), files, publicKeys), null)
  const { NATS_KEY_AUTH: _, ...withoutAuth } = publicKeys
  t.match(await refusalOfNats(t.testdir(), files, withoutAuth), /NATS_KEY_AUTH/)
  const broken = { ...files, 'nats.conf': `${files['nats.conf']}\njet_stream: on\n` }
  t.match(await refusalOfNats(t.testdir(), broken, publicKeys), /unknown field "jet_stream"/)
})
