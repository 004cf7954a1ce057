import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { billOfMaterials } from './bill-of-materials.ts'
import type { Build } from './build-images.ts'
import { provenance } from './provenance.ts'
import { filesOf } from './sign-image.ts'

/**
 * Writes what goes with the images of a build into `folder`: for each its bill of materials and its
 * provenance, and `images.json`, which names them all by digest. `builder` is a URI.
 */
export function writeDocuments(root: string, folder: string, build: Build, builder: string): void {
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  for (const { spec, built } of build.images) {
    const files = filesOf(spec.name)
    write(files.billOfMaterials, billOfMaterials(root, build, { spec, built }))
    write(files.provenance, `${JSON.stringify(provenance(root, build, { spec, builder }), null, 2)}\n`)
  }
  const { version, revision, created } = build.facts
  const images = build.images.map(({ spec, built }) => ({
    name: spec.name,
    digest: built.digest,
    bytes: built.layers.reduce((sum, { size }) => sum + size, 0),
  }))
  write('images.json', `${JSON.stringify({ version, revision, created, images }, null, 2)}\n`)
}
