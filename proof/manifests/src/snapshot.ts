import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { renderFolder } from './render-folder.ts'

/** The file that holds what production renders to, for people who read changes. */
export const snapshotFile = fileURLToPath(new URL('../snapshots/production.yaml', import.meta.url))

/** What production renders to, as one text. */
export async function takeSnapshot(): Promise<string> {
  const manifests = [
    ...(await renderFolder('overlays/production/topology')),
    ...(await renderFolder('overlays/production/indexes')),
    ...(await renderFolder('overlays/production')),
  ]
  return manifests.map((manifest) => stringify(manifest, { lineWidth: 0 })).join('---\n')
}
