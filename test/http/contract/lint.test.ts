/** An independent linter finds nothing in the contract. */
import { expect, test } from 'vitest'
import { type Body, serverWithContract } from '../support.js'

const { contract } = await serverWithContract()

// Its types include those of browsers, which would then hold for all tests.
const linter: string = '@redocly/openapi-core'
type Finding = { readonly ruleId: string; readonly message: string; readonly location: ReadonlyArray<{ readonly pointer?: string }> }

/** The findings of Redocly's recommended rules, all as errors, and of some more. */
const findings = async (document: Body): Promise<ReadonlyArray<string>> => {
  const { createConfig, lintFromString } = await import(linter)
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // `/tasks/cancel` beside `/tasks/{id}`: by OpenAPI's own rule the former takes precedence, and the methods differ.
      'no-ambiguous-paths': 'off',
      // What is open to everyone, and the handshake of the WebSocket, has no `4xx` of its own kind: the others have theirs one by one.
      'tag-description': 'error',
      'tags-alphabetical': 'off',
      'operation-description': 'error',
      'parameter-description': 'error',
      'no-invalid-parameter-examples': 'error',
      'no-invalid-schema-examples': 'error',
      'no-http-verbs-in-paths': 'off',
      'operation-singular-tag': 'error',
      'no-enum-type-mismatch': 'error',
      'no-duplicated-tag-names': 'error',
    },
  })
  const found: ReadonlyArray<Finding> = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  return found.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer ?? ''}: ${message}`)
}

test('nothing is found', async () => {
  expect(await findings(contract)).toEqual([])
})

test.each<readonly [string, string, (document: Body) => void]>([
  ['an example that is not its schema', 'no-invalid-media-type-examples', ({ paths }) => (paths['/api/queues/{queue}/pause'].post.requestBody.content['application/json'].examples.forMaintenance.value.reason = 5)],
  ['a reference without a target', 'no-unresolved-refs', ({ components }) => delete components.schemas.Task],
  ['a tag without words', 'tag-description', ({ tags }) => delete tags[0].description],
  ['a parameter that is not declared', 'path-parameters-defined', ({ paths }) => paths['/api/queues/{queue}'].get.parameters.shift()],
  ['an operation without a summary', 'operation-summary', ({ paths }) => delete paths['/healthz'].get.summary],
])('teeth: %s is found', async (_, rule, spoil) => {
  const copy = structuredClone(contract)
  spoil(copy)
  expect((await findings(copy)).some((finding) => finding.startsWith(rule))).toBe(true)
})
