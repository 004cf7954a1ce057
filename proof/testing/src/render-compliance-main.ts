import { renderCompliance } from './render-compliance.ts'

/** Prints the page docs/compliance.md. */
process.stdout.write(renderCompliance())
