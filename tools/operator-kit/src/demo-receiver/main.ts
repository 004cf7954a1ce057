import { join } from 'node:path'
import { z } from 'zod'
import { portVariable, readEnvironment, startProcess } from '../shared/start-process.ts'
import { createReceiverApp } from './create-receiver-app.ts'

const environment = readEnvironment(
  z.object({
    RECEIVER_HOST: z.string().default('127.0.0.1'),
    RECEIVER_PORT: portVariable.default(0),
    RECEIVER_DATA_DIR: z.string('the folder of the deliveries is required').min(1),
    RECEIVER_SECRETS_FILE: z.string().min(1).optional(),
  }),
)
const dataDir = environment.RECEIVER_DATA_DIR
const app = await createReceiverApp({
  dataDir,
  secretsFile: environment.RECEIVER_SECRETS_FILE ?? join(dataDir, 'secrets.json'),
})
await startProcess(app, environment.RECEIVER_HOST, environment.RECEIVER_PORT)
