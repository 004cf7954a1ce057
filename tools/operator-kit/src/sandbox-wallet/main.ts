import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { portVariable, readEnvironment, startProcess } from '../shared/start-process.ts'
import { createWalletApp } from './create-wallet-app.ts'

const environment = readEnvironment(
  z.object({
    WALLET_HOST: z.string().default('127.0.0.1'),
    WALLET_PORT: portVariable.default(0),
    WALLET_DATA_DIR: z.string('the folder of the ledger is required').min(1),
    WALLET_SECRET: z.string().min(1).optional(),
    WALLET_SECRET_FILE: z.string().min(1).optional(),
    WALLET_STARTING_BALANCE: z
      .string()
      .regex(/^(0|[1-9][0-9]{0,14})(\.[0-9]{1,18})?$/, 'must be a decimal string')
      .default('1000.00'),
    WALLET_SEED: z
      .string()
      .regex(/^[0-9]{1,9}$/, 'must be a number')
      .default('1'),
  }),
)
const secretFile = environment.WALLET_SECRET_FILE
const secret = readSecretFile(secretFile) ?? environment.WALLET_SECRET
if (secret === undefined) {
  process.stderr.write('WALLET_SECRET: is required\n')
  process.exit(78)
}

const app = await createWalletApp({
  dataDir: environment.WALLET_DATA_DIR,
  secret,
  startingBalance: environment.WALLET_STARTING_BALANCE,
  seed: Number(environment.WALLET_SEED),
  async storeSecret(next) {
    if (secretFile !== undefined) await writeFile(secretFile, next, { mode: 0o600 })
  },
})
await startProcess(app, environment.WALLET_HOST, environment.WALLET_PORT)

function readSecretFile(path: string | undefined): string | null {
  if (path === undefined) return null
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
