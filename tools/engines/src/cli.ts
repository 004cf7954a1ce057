import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import pc from 'picocolors'
import { cacheFolder, checkEngineSettings, findProgram } from './engine-settings.ts'
import { documentDbFolderName } from './documentdb/fetch-documentdb.ts'
import { EngineError, reasonOf } from './engine-error.ts'
import { debianPrograms } from './fetch/fetch-debian-program.ts'
import { aptObstacle } from './fetch/private-apt.ts'
import { createProgress } from './fetch/progress.ts'
import { chooseMongodb } from './mongodb/choose-mongodb.ts'
import { chooseNats } from './nats/choose-nats.ts'
import { natsProgramVersion } from './nats/nats-version.ts'

/** Folders that we put into a cache folder; nothing else in it is ever touched. */
const ours = new RegExp(
  `^(documentdb-|mongod-|nats-server-|(${debianPrograms.join('|')})-|apt(-trixie)?(\\.lock)?$)`,
)
const cacheDir = cacheFolder(process.env)

const program = new Command('npm run engines --')
  .description('The database and the broker that npm start and npm test bring along.')
  .showHelpAfterError()
  .hook('preAction', () => checkEngineSettings(process.env))
program.command('status').description('what would run, and what is in the cache').action(status)
program
  .command('fetch')
  .description('fetch what this machine needs, so that later starts need no network')
  .action(fetchAll)
program.command('clean').description('remove what was fetched').action(clean)

try {
  await program.parseAsync()
} catch (error) {
  console.error(`${pc.red('engines:')} ${reasonOf(error)}`)
  process.exitCode = error instanceof EngineError ? error.exitCode : 1
}

async function status(): Promise<void> {
  console.log(`cache      ${cacheDir}`)
  const folders = fetchedFolders()
  for (const name of folders) console.log(`           ${name}  ${megabytes(join(cacheDir, name))} MB`)
  if (folders.length === 0)
    console.log('           empty: the first start fetches about 40 MB (npm run engines -- fetch)')
  console.log(`MongoDB    ${mongodbStatus()}`)
  console.log(`NATS       ${await natsStatus()}`)
  const obstacle = aptObstacle()
  if (obstacle !== null) console.log(`note       ${obstacle}`)
}

function mongodbStatus(): string {
  if (process.env.MONGODB_URL) return 'MONGODB_URL'
  const found = findProgram(process.env, 'MONGOD_BIN', 'mongod')
  if (found !== null) return `${found.path} (${found.from})`
  if (fetchedFolders().includes(documentDbFolderName)) return 'DocumentDB from the cache'
  return fetchedFolders().some((name) => name.startsWith('mongod-'))
    ? 'mongod from the cache'
    : 'to be fetched'
}

async function natsStatus(): Promise<string> {
  if (process.env.NATS_URL) return 'NATS_URL'
  const found = findProgram(process.env, 'NATS_SERVER_BIN', 'nats-server')
  if (found !== null) return `${found.path} ${await natsProgramVersion(found.path)} (${found.from})`
  const cached = fetchedFolders().find((name) => name.startsWith('nats-server-'))
  return cached === undefined
    ? 'to be fetched'
    : `${await natsProgramVersion(join(cacheDir, cached, 'nats-server'))} from the cache`
}

async function fetchAll(): Promise<void> {
  const { MONGODB_URL: _mongodb, NATS_URL: _nats, ...env } = process.env
  const progress = createProgress()
  const mongodb = await chooseMongodb({ env, cacheDir, dataDir: join(cacheDir, 'no-data'), progress })
  const nats = await chooseNats({ env, cacheDir, progress })
  console.log(`MongoDB    ${mongodb.kind}: ${mongodb.reason}`)
  console.log(`NATS       ${nats.kind}: ${nats.reason}`)
  console.log(`cache      ${cacheDir}`)
}

function clean(): void {
  const user = processUsing(cacheDir)
  if (user !== null) throw new Error(`process ${user} runs from ${cacheDir}; stop it first`)
  const names = existsSync(cacheDir) ? readdirSync(cacheDir).filter((name) => ours.test(name)) : []
  for (const name of names) rmSync(join(cacheDir, name), { recursive: true, force: true })
  console.log(
    names.length === 0 ? `nothing to remove in ${cacheDir}` : `removed ${names.join(', ')} from ${cacheDir}`,
  )
}

function fetchedFolders(): string[] {
  if (!existsSync(cacheDir)) return []
  const isFetched = (name: string) =>
    /^(documentdb-|mongod-|nats-server-)/.test(name) && !/\.(making-|lock)/.test(name)
  return readdirSync(cacheDir).filter(isFetched).sort()
}

/** A process whose program lies in the folder; null when there is none, or the system does not tell. */
function processUsing(folder: string): number | null {
  if (!existsSync('/proc')) return null
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue
    try {
      const [command = '', ...args] = readFileSync(join('/proc', name, 'cmdline'), 'utf8').split('\0')
      if ([command, ...args].some((word) => word.startsWith(`${folder}/`))) return Number(name)
    } catch {
      // it ended meanwhile, or is somebody else's
    }
  }
  return null
}

function megabytes(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const bytes = files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0)
  return (bytes / 1e6).toFixed(0)
}
