import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { baseSuite } from './base-packages.ts'
import type { Build } from './build-images.ts'
import type { ImageSpec } from './image-table.ts'

/** Name of the way in which `npm run images` builds. */
const buildType = 'urn:pitboss:build:images:1'

/**
 * Says how an image was made and of what, as SLSA's provenance predicate 1: the commit, the lock file, Node
 * and Debian's packages, each with its digest. It tells what the builder says; how far to believe it is for
 * whoever trusts the key of its signature. `builder` is a URI. Source: slsa.dev, provenance v1.
 */
export function provenance(
  root: string,
  { facts, packages, node }: Pick<Build, 'facts' | 'packages' | 'node'>,
  { spec, builder }: { spec: ImageSpec; builder: string },
): Record<string, unknown> {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  return {
    buildDefinition: {
      buildType,
      externalParameters: { image: spec.name, folder: spec.folder },
      internalParameters: { SOURCE_DATE_EPOCH: facts.created.getTime() / 1000 },
      resolvedDependencies: [
        { name: 'source', digest: { gitCommit: facts.revision } },
        { name: 'package-lock.json', digest: { sha256: lock } },
        { name: `node ${node.version}`, digest: { sha256: node.sha256 } },
        ...packages.map(({ name, version, sha256 }) => ({
          name: `debian/${baseSuite}/${name} ${version}`,
          digest: { sha256 },
        })),
      ],
    },
    runDetails: {
      builder: { id: builder },
      metadata: { finishedOn: facts.created.toISOString().replace('.000Z', 'Z') },
    },
  }
}
