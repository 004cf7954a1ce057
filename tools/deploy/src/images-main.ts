import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EngineError } from '@pitboss/engines/engine-error'
import { Command } from 'commander'
import colors from 'picocolors'
import { z } from 'zod'
import { buildImages } from './images/build-images.ts'
import { blobPath } from './images/oci-layout.ts'
import { signImage } from './images/sign-image.ts'
import { writeDocuments } from './images/write-documents.ts'

/** `npm run images`: OCI images without Docker, each with its bill of materials, provenance and signature. */
const root = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '')
const { out, node, key, builder } = new Command('npm run images --')
  .description('Builds an OCI image of each service and of the operations command, on Linux, without Docker.')
  .option('--out <folder>', 'where they go', 'artifacts/images')
  .option('--node <program>', 'the Node of the images', process.execPath)
  .option('--key <key>', "signs with cosign's key: a file (password in COSIGN_PASSWORD) or its address")
  .option('--builder <uri>', 'who builds, for the provenance', 'urn:pitboss:builder:local')
  .showHelpAfterError()
  .parse()
  .opts<{ out: string; node: string; key?: string; builder: string }>()

try {
  await run(resolve(out))
} catch (error) {
  const text = error instanceof EngineError ? error.message : error instanceof Error ? error.stack : error
  process.stderr.write(`${colors.red('images:')} ${String(text)}\n`)
  process.exitCode = 1
}

async function run(folder: string): Promise<void> {
  const { version } = z
    .looseObject({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
  const isChanged = git('status', '--porcelain') !== ''
  if (isChanged && key !== undefined)
    throw new EngineError('only what is committed is signed: commit the changes of the work tree first')
  const createdS = Number(process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct'))
  if (!Number.isSafeInteger(createdS)) throw new EngineError('SOURCE_DATE_EPOCH must be whole seconds')
  const layout = join(folder, 'oci')
  const build = await buildImages({
    root,
    layout,
    nodePath: resolve(node),
    facts: {
      version,
      revision: `${git('rev-parse', 'HEAD')}${isChanged ? '-changed' : ''}`,
      created: new Date(createdS * 1000),
    },
    say: (text) => process.stderr.write(`images: ${text}\n`),
  })
  writeDocuments(root, folder, build, builder)
  for (const { spec, built } of build.images) {
    if (key !== undefined) {
      const manifest = blobPath(layout, built.digest)
      await signImage({ manifest, folder, name: spec.name, key, env: process.env })
    }
    const megabytes = built.layers.map(({ size }) => `${(size / 1e6).toFixed(1)} MB`).join(' + ')
    process.stdout.write(`${spec.name.padEnd(14)} ${built.digest}  ${colors.dim(megabytes)}\n`)
  }
  process.stdout.write(`\n${folder}: ${key === undefined ? 'not signed (--key)' : 'signed'}\n`)
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}
