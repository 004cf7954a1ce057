import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Enums, Models, Serialize, Spec, SPDX } from '@cyclonedx/cyclonedx-library'
import { PackageURL } from 'packageurl-js'
import { z } from 'zod'
import { productionTree } from '../production-files.ts'
import { type BasePackage, baseSuite } from './base-packages.ts'
import type { Build } from './build-images.ts'
import type { ImageSpec } from './image-table.ts'
import type { NodeProgram } from './node-program.ts'
import type { BuiltImage } from './oci-layout.ts'

const lockSchema = z.looseObject({
  packages: z.record(z.string(), z.looseObject({ integrity: z.string().optional() })),
})
const packageSchema = z.looseObject({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
})

/**
 * The CycloneDX document of one image: each npm package and workspace that it holds with what it needs, Node,
 * and the packages of Debian. Two documents of the same image are the same text.
 */
export function billOfMaterials(
  root: string,
  { facts, packages, node }: Pick<Build, 'facts' | 'packages' | 'node'>,
  { spec, built }: { spec: ImageSpec; built: BuiltImage },
): string {
  const image = new Models.Component(Enums.ComponentType.Container, `pitboss/${spec.name}`, {
    bomRef: built.digest,
    version: facts.version,
    description: spec.title,
    purl: new PackageURL('oci', null, spec.name, built.digest).toString(),
  })
  const { all, start } = npmComponents(root, spec)
  const base = [nodeComponent(node), ...packages.map(debianComponent)]
  image.dependencies.add(start.bomRef)
  for (const each of base) image.dependencies.add(each.bomRef)
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ timestamp: facts.created, component: image }),
    components: new Models.ComponentRepository([...all, ...base]),
  })
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6))
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
}

/** Those of npm and our own, and the one that runs. */
function npmComponents(root: string, spec: ImageSpec) {
  const lock = lockSchema.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))
  const tree = productionTree(root, spec.folder)
  const components = new Map(
    [...tree.keys()].map((folder) => {
      const found = packageSchema.parse(JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')))
      return [folder, npmComponent(folder, found, lock.packages[folder]?.integrity, folder === spec.folder)]
    }),
  )
  const componentOf = (folder: string) => {
    const found = components.get(folder)
    if (found === undefined) throw new Error(`${folder} is not in the image`)
    return found
  }
  for (const [folder, needs] of tree)
    for (const need of needs) componentOf(folder).dependencies.add(componentOf(need).bomRef)
  return { all: [...components.values()], start: componentOf(spec.folder) }
}

function npmComponent(
  folder: string,
  { name, version, license }: z.infer<typeof packageSchema>,
  integrity: string | undefined,
  isStart: boolean,
): Models.Component {
  const isOurs = !folder.includes('node_modules')
  const [scope, plain] = name.startsWith('@') ? name.split('/') : [null, name]
  const component = new Models.Component(
    isStart ? Enums.ComponentType.Application : Enums.ComponentType.Library,
    name,
    {
      bomRef: folder,
      version,
      // A registry's package of the same name would be somebody else's.
      ...(isOurs ? {} : { purl: new PackageURL('npm', scope, plain ?? name, version).toString() }),
    },
  )
  component.licenses.add(licenceOf(license ?? (isOurs ? 'Apache-2.0' : 'unknown')))
  const [, sha512] = /^sha512-(\S+)$/.exec(integrity ?? '') ?? []
  if (sha512 !== undefined)
    component.hashes.set(Enums.HashAlgorithm['SHA-512'], Buffer.from(sha512, 'base64').toString('hex'))
  return component
}

function licenceOf(text: string): Models.License {
  if (SPDX.isSupportedSpdxId(text)) return new Models.SpdxLicense(text)
  return / (OR|AND|WITH) /.test(text) ? new Models.LicenseExpression(text) : new Models.NamedLicense(text)
}

function nodeComponent({ version, sha256 }: NodeProgram): Models.Component {
  const component = new Models.Component(Enums.ComponentType.Platform, 'node', {
    bomRef: 'node',
    version,
    purl: new PackageURL('generic', null, 'node', version).toString(),
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
  })
  component.hashes.set(Enums.HashAlgorithm['SHA-256'], sha256)
  return component
}

function debianComponent({ name, version, architecture, sha256 }: BasePackage): Models.Component {
  const qualifiers = { arch: architecture, distro: baseSuite }
  const component = new Models.Component(Enums.ComponentType.Library, name, {
    bomRef: `debian/${name}`,
    version,
    purl: new PackageURL('deb', 'debian', name, version, qualifiers).toString(),
  })
  component.hashes.set(Enums.HashAlgorithm['SHA-256'], sha256)
  return component
}
