import { z } from 'zod'
import { modelOf } from './model-of.ts'
import { type Manifest, titleOf } from './render-folder.ts'

const modelSchema = z.custom<new (data: object) => { validate(): void }>(
  (value) => typeof value === 'function',
)

/**
 * Compares manifests with the schemas of their resources, as kubernetes-models has them. Returns a sentence
 * for each that breaks its own; unknown fields are found by `checkTypes`, not here.
 */
export async function checkSchema(manifests: readonly Manifest[]): Promise<string[]> {
  const problems: string[] = []
  for (const manifest of manifests) {
    const { module, name } = modelOf(manifest)
    const loaded: Record<string, unknown> = await import(module)
    const Model = modelSchema.parse(loaded[name])
    try {
      new Model(manifest).validate()
    } catch (error) {
      problems.push(`${titleOf(manifest)}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return problems
}
