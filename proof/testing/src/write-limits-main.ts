import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { renderLimits } from './render-limits.ts'

/** `npm run limits`: writes docs/limits.md. */
writeFileSync(fileURLToPath(new URL('../../../docs/limits.md', import.meta.url)), renderLimits())
