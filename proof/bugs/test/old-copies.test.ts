import { randomBytes, randomUUID } from 'node:crypto'
import { connectBus } from '@pitboss/bus/connect-bus'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { createInstances, type InstanceDocument } from '@pitboss/storage/journal/instances'
import { parseKeyring } from '@pitboss/storage/keyring'
import { shareCopies } from '@pitboss/storage/shared-copies'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { withEngines } from '@pitboss/testing/with-engines'
import { createWallets } from '@pitboss/wallet-bridge/storage/wallet-document'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { HasBug } from '../src/bugs.ts'
import { walletsWith } from '../src/wallet-bridge-bugs.ts'

const replicas = 2
const rotations = 5
const logger = pino({ level: 'silent' })

/**
 * Rotates a wallet's secret at one replica after the other.
 * @returns how often a replica went on with a former secret
 */
async function countOldSecrets(t: Test, has: HasBug): Promise<number> {
  const engines = await withEngines(t)
  const database = `${engines.databasePrefix}_wallet_bridge`
  const { db, close } = await connectStorage({ url: engines.mongodbUrl, database, logger })
  t.teardown(close)
  const keyring = parseKeyring(`k1:${randomBytes(32).toString('base64')}`)

  async function startReplica() {
    const bus = await connectBus({ url: engines.natsUrl, service: 'wallet-bridge', logger })
    const steadyMs = () => performance.now()
    const instances = createInstances({
      collection: db.collection<InstanceDocument>('journal_instances'),
      build: 'test',
      newInstance: randomUUID,
      now: () => new Date(),
      steadyMs,
    })
    const beat = () => instances.beat(() => ({ done: 0, last: 0, oldestAt: null }))
    await beat()
    const beats = setInterval(() => void beat(), 1000)
    const copies = shareCopies({ bus, service: 'wallet-bridge', instances, steadyMs, logger })
    await bus.nc.flush()
    t.teardown(async () => {
      clearInterval(beats)
      copies.stop()
      await bus.close()
    })
    return walletsWith(createWallets(db, createSecretBox(keyring), copies), has)
  }
  const wallets = await Promise.all(Array.from({ length: replicas }, startReplica))

  const scope = { operatorId: randomUUID(), environment: 'SANDBOX' } as const
  const settings = { url: 'https://wallet.example.com', timeoutMs: 1000, settleLosses: 'none' } as const
  await wallets[0]?.create(scope, { ...settings, secret: 'secret 0', at: new Date() }, () =>
    sampleAuditEntry(),
  )
  let old = 0
  for (let rotation = 1; rotation <= rotations; rotation++) {
    await Promise.all(wallets.map(({ open }) => open(scope)))
    const rotated = { secret: `secret ${rotation}`, overlapS: 0, at: new Date() }
    await wallets[rotation % replicas]?.replaceSecret(scope, rotated, () => sampleAuditEntry())
    const opened = await Promise.all(wallets.map(({ open }) => open(scope)))
    old += opened.filter((wallet) => wallet?.secret !== rotated.secret).length
  }
  return old
}

t.test('no replica goes on with a secret that was replaced', async (t) => {
  t.equal(await countOldSecrets(t, () => false), 0)
})

t.test('found: wallet-bridge.old-wallet-after-answer', async (t) => {
  t.ok((await countOldSecrets(t, (bug) => bug === 'wallet-bridge.old-wallet-after-answer')) > 0)
})
