import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadMasterKeys } from '../src/state-file.ts'
import { storedServices } from '../src/stack-options.ts'

const former = `k1:${Buffer.alloc(32, 7).toString('base64')}`

t.test('each service has a master key of its own, the same at every start', async (t) => {
  const dataDir = t.testdir()
  const keys = loadMasterKeys(dataDir, storedServices)
  t.strictSame([...keys.keys()], ['auth', 'rounds', 'wallet-bridge', 'webhooks'])
  t.equal(new Set([...keys.values()].map((text) => text.split(':')[1])).size, 4)
  for (const [service, text] of keys) t.match(text, new RegExp(`^${service}-1:[A-Za-z0-9+/]{43}=$`))
  t.strictSame(loadMasterKeys(dataDir, storedServices), keys)
  t.equal(statSync(join(dataDir, 'master-keys.json')).mode & 0o777, 0o600)
})

t.test('the one key of an earlier release stays behind the own key of each service', async (t) => {
  const dataDir = t.testdir({ 'master-keys.json': JSON.stringify({ master_keys: former }) })
  const keys = loadMasterKeys(dataDir, storedServices)
  const own = [...keys.values()].map((text) => text.split(',')[0])
  t.equal(new Set(own).size, 4)
  for (const text of keys.values()) t.equal(text.split(',')[1], former)
  t.strictSame(loadMasterKeys(dataDir, storedServices), keys)

  const path = join(dataDir, 'master-keys.json')
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(`,${former}`, ''))
  t.strictSame([...loadMasterKeys(dataDir, storedServices).values()], own, 'it may be taken out')
})
