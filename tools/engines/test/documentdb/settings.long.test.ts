import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { socketFolderFor, socketName } from '../../src/documentdb/postgres-files.ts'
import { openPostgres } from '../../src/documentdb/postgres-process.ts'
import { startEngine } from './fixtures/start-engine.ts'

t.test('the engine knows each setting that it is given', async (t) => {
  const { dataDir } = await startEngine(t)
  const log = readFileSync(join(dataDir, 'postgres.log'), 'utf8')
  t.match(log, /ready to accept connections/, 'the log is that of a start')
  t.strictSame(log.match(/invalid configuration parameter name "[^"]*"/g) ?? [], [])
})

t.test('no job of the engine starts processes all the time', async (t) => {
  const { dataDir } = await startEngine(t)
  const connection = await openPostgres(join(socketFolderFor(dataDir), socketName))
  t.teardown(() => connection.end())
  const jobs = await connection.query('select schedule from cron.job where active order by jobid')
  t.strictSame(
    jobs.map(([schedule]) => schedule?.toString()),
    ['* * * * *', '* * * * *'],
    'the two that are left run once a minute',
  )
})
