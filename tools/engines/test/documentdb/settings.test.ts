import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startEngine } from './fixtures/start-engine.ts'

t.setTimeout(120_000)

t.test('the engine knows each setting that it is given', async (t) => {
  const { dataDir } = await startEngine(t)
  const log = readFileSync(join(dataDir, 'postgres.log'), 'utf8')
  t.match(log, /ready to accept connections/, 'the log is that of a start')
  t.strictSame(log.match(/invalid configuration parameter name "[^"]*"/g) ?? [], [])
})
