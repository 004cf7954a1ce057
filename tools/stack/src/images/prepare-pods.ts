import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '@pitboss/engines/fetch/run-program'
import { z } from 'zod'
import type { LogOutput } from '../logs/log-output.ts'
import { StackError } from '../stack-error.ts'
import { type ServiceName, serviceNames } from '../stack-options.ts'
import { projectFile } from '../stack-services.ts'
import { findPodman, type Podman, runPodman } from './find-podman.ts'

const indexSchema = z.looseObject({
  revision: z.string(),
  images: z.array(z.looseObject({ name: z.string(), digest: z.string().regex(/^sha256:[0-9a-f]{64}$/) })),
})
type Built = z.infer<typeof indexSchema>

/** What a stack needs to play its services as pods. */
export type Pods = {
  readonly podman: Podman
  readonly images: Readonly<Record<ServiceName, string>>
  /** With which the names of its pods begin: stacks of other data folders have others. */
  readonly prefix: string
}

/**
 * Makes ready what `npm start -- --images` plays: finds podman, builds the images where those that are there
 * are of other sources, and gives them to podman. Pods that an earlier stack of this folder left are removed.
 * @throws StackError or EngineError with a sentence that says what to do
 */
export async function preparePods(dataDir: string, output: LogOutput): Promise<Pods> {
  const podman = await findPodman(process.env, join(dataDir, 'podman'))
  const prefix = `pitboss-${createHash('sha256').update(dataDir).digest('hex').slice(0, 8)}`
  await removePods(podman, prefix)
  const folder = projectFile('artifacts/images')
  const built = await builtImages(folder, output)
  const images: [string, string][] = []
  for (const name of serviceNames) images.push([name, await load(podman, { folder, name, built, output })])
  return {
    podman,
    prefix,
    images: z.record(z.enum(serviceNames), z.string()).parse(Object.fromEntries(images)),
  }
}

async function removePods(podman: Podman, prefix: string): Promise<void> {
  const listed = await runPodman(podman, ['pod', 'ls', '--quiet', `--filter=name=^${prefix}-`])
  const ids = listed.split('\n').filter((id) => id !== '')
  if (ids.length > 0) await runPodman(podman, ['pod', 'rm', '--force', '--time=0', '--ignore', ...ids])
}

/** The images of these sources, built when they are not there; a changed work tree is built each time. */
async function builtImages(folder: string, output: LogOutput): Promise<Built> {
  const git = (...args: string[]) => runProgram('git', ['-C', projectFile('.'), ...args])
  const revision = (await git('rev-parse', 'HEAD')).trim()
  const isChanged = (await git('status', '--porcelain')) !== ''
  const there = readIndex(folder)
  if (there !== null && there.revision === revision && !isChanged) return there
  output.say('building the images', { folder })
  const building = spawn(
    process.execPath,
    [projectFile('tools/deploy/src/images-main.ts'), '--out', folder],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  for (const stream of [building.stdout, building.stderr]) output.attach('images', stream)
  const [code] = await once(building, 'exit')
  const built = code === 0 ? readIndex(folder) : null
  if (built === null)
    throw new StackError('The images could not be built: npm run images says why. Or start without --images')
  return built
}

function readIndex(folder: string): Built | null {
  const path = join(folder, 'images.json')
  return existsSync(path) ? indexSchema.parse(JSON.parse(readFileSync(path, 'utf8'))) : null
}

/** Gives podman one image, unless it has it. @returns its name there, which its content decides */
async function load(
  podman: Podman,
  { folder, name, built, output }: { folder: string; name: ServiceName; built: Built; output: LogOutput },
): Promise<string> {
  const digest = built.images.find((image) => image.name === name)?.digest
  if (digest === undefined) throw new StackError(`${folder} has no image of ${name}: npm run images`)
  const image = `localhost/pitboss/${name}:${digest.slice('sha256:'.length).slice(0, 16)}`
  if ((await runPodman(podman, ['images', '--quiet', image])).trim() !== '') return image
  output.say('podman takes an image', { image })
  // From within the folder: podman names an image by its path, and refuses capitals in a name.
  const pulled = await runPodman(podman, ['pull', '--quiet', `oci:oci:${name}`], { cwd: folder })
  await runPodman(podman, ['tag', pulled.trim(), image])
  await runPodman(podman, ['untag', pulled.trim(), 'localhost/oci:latest'], { allow: [125] })
  return image
}
