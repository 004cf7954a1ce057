import { readFileSync } from 'node:fs'
import { tracingConfig } from '@pitboss/runtime/tracing-config'
import { unknownOutcomeAttribute } from '@pitboss/tracing/spans'
import t from 'tap'
import { parse } from 'yaml'
import { z } from 'zod'
import { danglingReferences } from '../src/dangling-references.ts'
import { environmentOf } from '../src/environment-of.ts'
import { mayConnect, type Party } from '../src/reachability.ts'
import { manifestsFolder, renderFolder } from '../src/render-folder.ts'
import { serviceNames } from '../src/services.ts'
import { workloadsOf } from '../src/workloads.ts'

const folder = '../../proof/manifests/test/fixtures/with-traces'

t.test('with the component, all five services send traces, and nobody refuses them the way', async (t) => {
  const manifests = await renderFolder(folder)
  const base = await renderFolder('../../proof/manifests/test/fixtures/with-ingress')
  t.strictSame(danglingReferences(manifests, {}), danglingReferences(base, {}))
  const collector: Party = {
    kind: 'pod',
    namespace: 'monitoring',
    namespaceLabels: { 'pitboss-role': 'monitoring' },
    labels: { 'app.kubernetes.io/name': 'otel-collector' },
    ports: [],
  }
  const services = workloadsOf(manifests).filter(({ kind }) => kind === 'Deployment')
  t.strictSame(services.map(({ name }) => name).toSorted(), [...serviceNames].toSorted())
  for (const { name, labels, pod } of services) {
    const [container] = pod.containers
    if (container === undefined) throw new Error(`${name} has no container`)
    const environment = environmentOf(container, manifests, {})
    t.match(environment, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel-collector:4318' }, name)
    const wanted = Object.fromEntries(Object.entries(environment).filter(([key]) => key.startsWith('OTEL_')))
    t.ok(z.strictObject(tracingConfig).safeParse(wanted).success, `${name} takes it`)
    const from: Party = { kind: 'pod', namespace: 'pitboss', namespaceLabels: {}, labels, ports: [] }
    const way = { from, to: collector, port: 4318, protocol: 'TCP' } as const
    t.equal(mayConnect(manifests, way), true, `${name} reaches the collector`)
    const another: Party = { ...collector, namespaceLabels: {} }
    t.equal(mayConnect(manifests, { ...way, to: another }), false, `${name} reaches no other`)
    t.equal(mayConnect(manifests, { ...way, port: 4317 }), false, `${name} reaches nothing else of it`)
    t.equal(mayConnect(base, way), false, `${name} does not without the component`)
  }
})

const collectorSchema = z.looseObject({
  processors: z.looseObject({
    tail_sampling: z.looseObject({
      policies: z.array(
        z.looseObject({
          type: z.string(),
          boolean_attribute: z.object({ key: z.string(), value: z.boolean() }).optional(),
        }),
      ),
    }),
  }),
})

t.test('the example of a collector keeps every trace that we mark', (t) => {
  const text = readFileSync(`${manifestsFolder}/components/traces/collector.example.yaml`, 'utf8')
  const { policies } = collectorSchema.parse(parse(text)).processors.tail_sampling
  const keeping = policies.find(({ type }) => type === 'boolean_attribute')
  t.strictSame(keeping?.boolean_attribute, { key: unknownOutcomeAttribute, value: true })
  t.end()
})
