import { bootService } from '@pitboss/runtime/run-service'
import { runRounds } from './app.ts'
import { roundsConfig } from './config.ts'

await bootService({ name: 'rounds', schema: roundsConfig, start: runRounds })
