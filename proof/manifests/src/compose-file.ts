import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { z } from 'zod'

/** `deploy/compose/compose.yaml`. */
export const composePath = fileURLToPath(new URL('../../../deploy/compose/compose.yaml', import.meta.url))

const serviceSchema = z.looseObject({
  image: z.string(),
  entrypoint: z.array(z.string()).default([]),
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  user: z.string().optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  build: z.looseObject({ dockerfile: z.string(), args: z.record(z.string(), z.string()) }).optional(),
})
const composeSchema = z.looseObject({ services: z.record(z.string(), serviceSchema) })

const reference = /\$\{([A-Z_]+):\?[^}]*\}/g

/**
 * Reads the compose file as `docker compose` would, with the lines of an environment file.
 * @throws Error for a variable that the environment file lacks, ZodError for another shape
 */
export function readCompose(environmentFile: string, text = readFileSync(composePath, 'utf8')) {
  const lines = environmentFile.split('\n').filter(Boolean)
  const known = new Map(
    lines.map((line) => {
      const [, name = '', value = ''] = /^([A-Z_]+)='(.*)'$/.exec(line) ?? []
      return [name, value]
    }),
  )
  const filled = text.replace(/^ *#.*$/gm, '').replaceAll(reference, (_, name: string) => {
    const value = known.get(name)
    if (value === undefined) throw new Error(`nobody sets ${name}`)
    return JSON.stringify(value)
  })
  return { ...composeSchema.parse(parse(filled, { merge: true })), unread: unread(text, known) }
}

/** The variables that no line of the file asks for. */
function unread(text: string, known: ReadonlyMap<string, string>): string[] {
  const asked = new Set([...text.matchAll(reference)].map(([, name]) => name))
  return [...known.keys()].filter((name) => !asked.has(name))
}
