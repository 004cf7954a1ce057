import { containerOf, podOf } from '@pitboss/stack/images/pod'
import t from 'tap'
import { renderOverlay } from '../src/render-folder.ts'
import { serviceNames } from '../src/services.ts'
import { workloadsOf } from '../src/workloads.ts'

t.test('npm start -- --images plays services under the security context of production', async (t) => {
  const workloads = new Map(workloadsOf(await renderOverlay('production')).map((each) => [each.name, each]))
  const { spec } = podOf({ name: 'p', image: 'i', environment: {} })
  for (const name of serviceNames) {
    const pod = workloads.get(name)?.pod
    t.strictSame(spec.securityContext, pod?.securityContext, name)
    t.strictSame(spec.containers[0]?.securityContext, pod?.containers[0]?.securityContext, name)
  }
  t.equal(containerOf('p'), `p-${spec.containers[0]?.name}`)
})
