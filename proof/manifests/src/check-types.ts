import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { modelOf } from './model-of.ts'
import { type Manifest, titleOf } from './render-folder.ts'

const tsc = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url))
const options =
  '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target es2024 --pretty false'.split(
    ' ',
  )

/**
 * Writes manifests as literals of their types into `folder`, which lies inside this project, and compiles
 * them: an unknown or misspelt field is an error of TypeScript. Returns its messages; none when all is well.
 */
export async function checkTypes(manifests: readonly Manifest[], folder: string): Promise<string[]> {
  const lines = manifests.flatMap((manifest, index) => {
    const { module, name } = modelOf(manifest)
    return [
      `import type { I${name} as T${index} } from '${module}'`,
      `// ${titleOf(manifest)}`,
      `export const m${index}: T${index} = ${JSON.stringify(manifest, null, 2)}`,
    ]
  })
  const file = join(folder, 'manifests.ts')
  writeFileSync(file, `${lines.join('\n')}\n`)
  const child = spawn(process.execPath, [tsc, ...options, '--types', '', file], {
    cwd: folder,
    // What a test runner tells its own children is not for the compiler.
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, said] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const errors = output.split('\n').filter((line) => line.includes('error TS'))
  if (errors.length === 0 && child.exitCode !== 0)
    throw new Error(`the compiler ended with ${child.exitCode}: ${output}${said}`)
  return errors
}
