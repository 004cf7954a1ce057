import { bootService } from '@pitboss/runtime/boot-service'
import { runRounds } from './app.ts'
import { roundsConfig } from './config.ts'

await bootService({ name: 'rounds', schema: roundsConfig, start: runRounds })
