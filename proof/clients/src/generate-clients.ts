import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { generatorsFolder } from './install-generators.ts'
import { typedExamples } from './typed-examples.ts'

export const generators = ['openapi-typescript', 'hey-api', 'swagger-typescript-api'] as const

const generated = (name: (typeof generators)[number]) => `generated/${name}`
const swaggerFile = `${generated('swagger-typescript-api')}/Api.ts`

/** What a client saw of the README's flow; `flows/flow.ts` says what each is. */
const seenSchema = z.strictObject({
  sessionId: z.string(),
  roundId: z.string(),
  payouts: z.array(z.string()),
  eventId: z.string(),
  roll: z.string(),
  isValid: z.boolean(),
  refusal: z.string(),
  movement: z.string(),
})
export type Seen = z.infer<typeof seenSchema>

/** What the project itself is checked with, beside the version of the generators. */
const projectTsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')

/**
 * Generates a client with each generator, as its documentation says, beside the programs that use them.
 * @param folder empty; must stay until the programs have run
 * @throws Error with what a generator said
 */
export function generateClients(folder: string, description: unknown): void {
  symlinkSync(join(generatorsFolder, 'node_modules'), join(folder, 'node_modules'))
  for (const name of ['package.json', 'tsconfig.json', 'flows'])
    cpSync(join(generatorsFolder, name), join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(description))
  const run = (program: string, ...args: string[]) => runIn(folder, `node_modules/.bin/${program}`, args)
  run('openapi-typescript', 'openapi.json', '-o', `${generated('openapi-typescript')}/schema.ts`)
  run('openapi-ts', '-i', 'openapi.json', '-o', generated('hey-api'))
  // Without the flag a named list of texts becomes an enum, to which no text of an answer can be assigned.
  const options = ['--generate-union-enums', '-p', 'openapi.json', '-o', dirname(swaggerFile)]
  run('swagger-typescript-api', 'generate', ...options)
  // It tells the compiler to look away.
  const api = readFileSync(join(folder, swaggerFile), 'utf8')
  writeFileSync(join(folder, swaggerFile), api.replace('// @ts-nocheck\n', ''))
  writeFileSync(join(folder, 'flows/examples.ts'), typedExamples(description))
}

/**
 * Compiles the clients and the programs, strictly, with both compilers. @throws Error with what they said.
 */
export function compileClients(folder: string): void {
  for (const tsc of ['node_modules/typescript/bin/tsc', projectTsc]) runIn(folder, tsc, ['--project', '.'])
}

/** Runs the flow of a generator's client as a process of its own, and gives what it saw. */
export function runFlow(folder: string, name: (typeof generators)[number], access: object): Seen {
  const source = `const { play } = await import(process.argv[1])
    console.log(JSON.stringify(await play(JSON.parse(process.argv[2]))))`
  const program = join(folder, 'compiled/flows', `${name}.js`)
  const args = ['--input-type=module', '--eval', source, program, JSON.stringify(access)]
  return seenSchema.parse(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })))
}

/** @throws Error with everything that the program wrote. */
function runIn(folder: string, program: string, args: readonly string[]): void {
  try {
    execFileSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    if (!(error instanceof Error && 'stdout' in error && 'stderr' in error)) throw error
    throw new Error(`${program} ${args.join(' ')}:\n${String(error.stdout)}${String(error.stderr)}`)
  }
}
