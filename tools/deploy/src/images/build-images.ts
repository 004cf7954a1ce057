import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { collectProduction } from '../production-files.ts'
import { type BasePackage, fetchBasePackages } from './base-packages.ts'
import { fixMetadata } from './fix-metadata.ts'
import { type ImageSpec, images } from './image-table.ts'
import { makeBase } from './make-base.ts'
import { type NodeProgram, readNodeProgram } from './node-program.ts'
import { type BuildFacts, type BuiltImage, createLayout, readImage } from './oci-layout.ts'

const baseTag = 'base'

/** What a build was made of, and what came out. */
export type Build = {
  readonly facts: BuildFacts
  readonly packages: readonly BasePackage[]
  readonly node: NodeProgram
  readonly images: readonly { readonly spec: ImageSpec; readonly built: BuiltImage }[]
}

/**
 * Builds the images into `layout`, a folder in OCI's image layout, which replaces one that was there: a base
 * layer of Debian's libraries and Node, shared by all, and a layer of `/app` for each. The same sources,
 * packages and Node give the same digests. `root` is the repository with its installed packages.
 * @throws EngineError where umoci or the packages cannot be had
 */
export async function buildImages({
  root,
  layout,
  nodePath,
  facts,
  wanted = images,
  env = process.env,
  say = () => undefined,
}: {
  root: string
  layout: string
  nodePath: string
  facts: BuildFacts
  wanted?: readonly ImageSpec[]
  env?: NodeJS.ProcessEnv
  /** Hears what is being made. */
  say?: (text: string) => void
}): Promise<Build> {
  const node = await readNodeProgram(nodePath)
  const packages = await fetchBasePackages(env)
  const work = mkdtempSync(join(tmpdir(), 'pitboss-build-'))
  try {
    const aside = join(work, 'oci')
    const oci = await createLayout(aside, facts, env)
    say(`base: Node ${node.version}, ${packages.map(({ name, version }) => `${name} ${version}`).join(', ')}`)
    const base = join(work, 'base')
    mkdirSync(base)
    await makeBase(base, { packages, node })
    fixMetadata(base)
    await oci.addBase(baseTag, base)
    for (const spec of wanted) {
      say(spec.name)
      const app = join(work, spec.name)
      mkdirSync(app)
      collectProduction(root, spec.folder, app)
      fixMetadata(app)
      await oci.addService(baseTag, spec, app)
      rmSync(app, { recursive: true })
    }
    await oci.finish(baseTag)
    const built = wanted.map((spec) => ({ spec, built: readImage(aside, spec.name) }))
    replaceFolder(aside, layout)
    return { facts, packages, node, images: built }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Puts a finished folder in the place of an older one, on whichever disk that is. */
function replaceFolder(from: string, to: string): void {
  const partial = `${to}.partial`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(join(to, '..'), { recursive: true })
  cpSync(from, partial, { recursive: true })
  if (existsSync(to)) rmSync(to, { recursive: true })
  renameSync(partial, to)
}
