// A worker that lays graphs out in layers, from left to right.
import { Graph, layout } from './lib/dagre.js';

onmessage = ({ data: { id, nodes, edges } }) => {
  const graph = new Graph().setGraph({
    rankdir: 'LR', nodesep: 14, ranksep: 56, marginx: 16, marginy: 16, ranker: nodes.length > 300 ? 'longest-path' : 'network-simplex',
  }).setDefaultEdgeLabel(() => ({}));
  for (const { name, width, height } of nodes) graph.setNode(name, { width, height });
  for (const [from, to] of edges) graph.setEdge(from, to);
  layout(graph, { disableOptimalOrderHeuristic: nodes.length > 300 });
  const { width, height } = graph.graph();
  postMessage({
    id, width, height,
    nodes: Object.fromEntries(nodes.map(({ name }) => [name, { x: graph.node(name).x, y: graph.node(name).y }])),
    edges: edges.map(([from, to]) => ({ from, to, points: graph.edge(from, to).points.map(({ x, y }) => [x, y]) })),
  });
};
