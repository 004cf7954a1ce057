import { fileURLToPath } from 'node:url'
import { runProgram } from '@pitboss/engines/fetch/run-program'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { findKustomize } from './find-tool.ts'

/** The least that a document of a cluster has. */
export const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
})
/** A document that a cluster takes. Its numbers are JavaScript's. */
export type Manifest = z.infer<typeof manifestSchema>

/** `deploy/k8s`. */
export const manifestsFolder = fileURLToPath(new URL('../../../deploy/k8s', import.meta.url))

/** The installations that the repository describes, each with what runs before its services. */
export const overlays = ['dev', 'staging', 'production'] as const

const rendered = new Map<string, Promise<Manifest[]>>()

/**
 * Renders a folder below `deploy/k8s` with kustomize, once in a process. No cluster is asked, whatever the
 * machine's settings name.
 * @throws EngineError with kustomize's own words
 */
export function renderFolder(folder: string): Promise<readonly Manifest[]> {
  const known = rendered.get(folder) ?? render(folder)
  rendered.set(folder, known)
  return known
}

async function render(folder: string): Promise<Manifest[]> {
  const { program, args } = await findKustomize()
  const text = await runProgram(program, [...args, `${manifestsFolder}/${folder}`], {
    env: { ...process.env, KUBECONFIG: '/dev/null' },
  })
  return parseManifests(text)
}

/** Reads the documents of a YAML text. @throws ZodError for one that is no manifest */
function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => manifestSchema.parse(document.toJS()))
}

/** What an overlay brings in the end: what runs before its services, and its services. */
export async function renderOverlay(overlay: (typeof overlays)[number]): Promise<Manifest[]> {
  const parts = await Promise.all([
    renderFolder(`overlays/${overlay}/topology`),
    renderFolder(`overlays/${overlay}/indexes`),
    renderFolder(`overlays/${overlay}`),
  ])
  return parts.flat()
}

/** `Deployment/gateway`, as messages name it. */
export function titleOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata.name}`
}
