import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EngineError } from '@pitboss/engines/engine-error'
import { findProgram } from '@pitboss/engines/engine-settings'
import { fetchDebianProgram } from '@pitboss/engines/fetch/fetch-debian-program'
import { runProgram } from '@pitboss/engines/fetch/run-program'
import { z } from 'zod'
import { type ImageSpec, imageUser } from './image-table.ts'

const indexSchema = z.looseObject({
  manifests: z.array(
    z.looseObject({
      digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
      annotations: z.record(z.string(), z.string()).default({}),
    }),
  ),
})
const manifestSchema = z.looseObject({
  config: z.looseObject({ digest: z.string() }),
  layers: z.array(z.looseObject({ digest: z.string(), size: z.number() })),
})

/** An image in a layout: digest of its manifest, which names it for ever, and its layers from the lowest. */
export type BuiltImage = {
  readonly digest: string
  readonly layers: readonly { readonly digest: string; readonly size: number }[]
}

/** What all images of a build say of it. */
export type BuildFacts = { readonly version: string; readonly revision: string; readonly created: Date }

/**
 * Makes a folder in OCI's image layout, which must not be there yet. It is written by `UMOCI_BIN` or Debian's
 * umoci, fetched once; not by the one of the machine, since digests depend on how a build of it compresses,
 * and 0.4 leaves layers without the end that tar wants.
 */
export async function createLayout(folder: string, facts: BuildFacts, env: NodeJS.ProcessEnv) {
  const program = env.UMOCI_BIN
    ? findProgram(env, 'UMOCI_BIN', 'umoci')?.path
    : await fetchDebianProgram(env, 'umoci')
  if (program === undefined) throw new EngineError('UMOCI_BIN names no program')
  const created = facts.created.toISOString()
  const umoci = (...args: string[]) =>
    runProgram(program, args, {
      env: { PATH: env.PATH, HOME: env.HOME, SOURCE_DATE_EPOCH: String(facts.created.getTime() / 1000) },
    })
  const each = (flag: string, values: readonly string[]) => values.map((value) => `--${flag}=${value}`)
  const history = (text: string) => [`--history.created=${created}`, `--history.created_by=${text}`]
  const rootless = process.getuid?.() === 0 ? [] : ['--rootless']
  await umoci('init', '--layout', folder)

  return {
    /** A new image with one layer. */
    addBase: async (tag: string, root: string) => {
      const image = `${folder}:${tag}`
      await umoci('new', '--image', image)
      await umoci('insert', ...rootless, '--image', image, ...history('Debian libraries and Node'), root, '/')
    },
    /** An image on top of another one of the layout, with the files of `app` in `/app`. */
    addService: async (base: string, spec: ImageSpec, app: string) => {
      const image = ['--image', `${folder}:${base}`, '--tag', spec.name]
      await umoci('insert', ...rootless, ...image, ...history(`${spec.title}: /app`), app, '/app')
      const settings = {
        'config.user': [`${imageUser}:${imageUser}`],
        'config.workingdir': ['/app'],
        'config.env': ['PATH=/usr/local/bin', 'NODE_ENV=production'],
        'config.entrypoint': spec.entrypoint,
        'config.cmd': spec.command,
        'config.exposedports': spec.ports.map((port) => `${port}/tcp`),
        'config.stopsignal': ['SIGTERM'],
        'config.label': [
          `org.opencontainers.image.title=${spec.title}`,
          `org.opencontainers.image.version=${facts.version}`,
          `org.opencontainers.image.revision=${facts.revision}`,
          'org.opencontainers.image.licenses=Apache-2.0',
        ],
        created: [created],
      }
      const flags = Object.entries(settings).flatMap(([flag, values]) => each(flag, values))
      await umoci('config', '--image', `${folder}:${spec.name}`, '--no-history', ...flags)
    },
    /** Drops an image that only others are made of, and what nothing needs any more. */
    finish: async (base: string) => {
      await umoci('rm', '--image', `${folder}:${base}`)
      await umoci('gc', '--layout', folder)
    },
  }
}

/** Path of a blob in a layout. */
export function blobPath(folder: string, digest: string): string {
  return join(folder, 'blobs', ...digest.split(':'))
}

/**
 * Reads an image of a layout by its tag.
 * @throws Error when it is not there, or a blob is not what it is called
 */
export function readImage(folder: string, tag: string): BuiltImage {
  const index = indexSchema.parse(JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')))
  const named = (annotations: Record<string, string>) => annotations['org.opencontainers.image.ref.name']
  const found = index.manifests.find(({ annotations }) => named(annotations) === tag)
  if (found === undefined) throw new Error(`${folder} has no image ${tag}`)
  const bytes = readFileSync(blobPath(folder, found.digest))
  if (`sha256:${createHash('sha256').update(bytes).digest('hex')}` !== found.digest)
    throw new Error(`${tag} is not what its digest says`)
  const { layers } = manifestSchema.parse(JSON.parse(bytes.toString()))
  return { digest: found.digest, layers: layers.map(({ digest, size }) => ({ digest, size })) }
}
