/** All pages, in the order of the navigation. To add one: a file beside these that exports its component, and an entry here (README.md). */
import type { ComponentType } from 'preact'
import { signal } from '@preact/signals'

/** The values of the `{names}` in the page's path, decoded. */
export type PageParams = Readonly<Record<string, string>>
export type PageComponent = ComponentType<{ readonly params: PageParams }>

export interface Page {
  readonly title: string
  /** `/q/{queue}/…` for a page of one queue. */
  readonly path: string
  /** After `g`, from everywhere. */
  readonly key?: string
  /** Whether it stands in the navigation. Default: yes. */
  readonly isListed?: false
  /** Loaded when it is opened first. */
  readonly load: () => Promise<PageComponent>
}

export const pages: ReadonlyArray<Page> = [
  { title: 'Now', path: '/', key: 'n', load: async () => (await import('./now/now-page.js')).NowPage },
  { title: 'Tasks', path: '/q/{queue}/tasks', key: 't', load: async () => (await import('./tasks/tasks-page.js')).TasksPage },
  { title: 'Task', path: '/q/{queue}/tasks/{id}', isListed: false, load: async () => (await import('./task/task-page.js')).TaskPage },
  { title: 'Log', path: '/q/{queue}/log', key: 'l', load: async () => (await import('./log/log-page.js')).LogPage },
]

/** Components that have been loaded, by path. */
export const loaded = signal<ReadonlyMap<string, PageComponent>>(new Map())
export const loadFailed = signal(false)

export const loadPage = async (page: Page): Promise<void> => {
  try {
    const component = await page.load()
    loaded.value = new Map([...loaded.value, [page.path, component]])
  } catch {
    // The server has another version by now, or is away.
    loadFailed.value = true
  }
}
