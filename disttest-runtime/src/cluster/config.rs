//! Configuration files of nodes, rendered from templates before each start.

use super::NodeSpec;
use super::program::expand_all;
use anyhow::{Context, Result, ensure};
use std::path::{Component, PathBuf};

/// A file in a node's folder.
#[derive(Clone, Debug)]
pub(super) struct Config {
    path: PathBuf,
    template: String,
}

impl Config {
    pub(super) fn new(path: PathBuf, template: String) -> Config {
        Config { path, template }
    }

    /// Writes the file of `node`; an error when it would not lie in the node's folder.
    pub(super) fn write(&self, node: &NodeSpec) -> Result<()> {
        let inside = self.path.components().all(|part| matches!(part, Component::Normal(_)));
        let shown = self.path.display();
        ensure!(
            inside && self.path.file_name().is_some(),
            "the configuration file `{shown}` is not in the node's folder"
        );
        let at = node.data_dir().join(&self.path);
        let lines: Vec<String> = self.template.split('\n').map(str::to_owned).collect();
        let text = expand_all(&lines, node).with_context(|| format!("configuration file `{shown}`"))?.join("\n");
        let write = || {
            std::fs::create_dir_all(at.parent().unwrap_or(node.data_dir()))?;
            std::fs::write(&at, text)
        };
        write().with_context(|| format!("{} cannot be written", at.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    fn written(path: &str, template: &str) -> Result<String> {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let peers = vec![("n1".to_owned(), at(41)), ("n3".to_owned(), at(43))];
        let node = NodeSpec::new("n2".into(), 1, at(2), at(92), dir.path().to_owned(), peers);
        Config::new(path.into(), template.to_owned()).write(&node)?;
        Ok(std::fs::read_to_string(dir.path().join(path))?)
    }

    #[test]
    fn a_template_becomes_a_file_in_the_nodes_folder() {
        let text =
            written("conf/node.toml", "name = \"{node}\"\npeer = \"{peer}\"\ntable = {a = 1}\n").expect("written");
        let peers = "peer = \"n1=127.0.0.1:41\"\npeer = \"n3=127.0.0.1:43\"";
        assert_eq!(text, format!("name = \"n2\"\n{peers}\ntable = {{a = 1}}\n"));
        assert!(format!("{:#}", written("c", "{peer:n9}").expect_err("no such node")).contains("n9"));
    }

    #[test]
    fn no_file_is_written_outside_of_it() {
        for path in ["../n1/node.toml", "/etc/node.toml", "a/../../b", ""] {
            let error = written(path, "x").expect_err(path);
            assert!(error.to_string().contains("is not in the node's folder"), "{error:#}");
        }
    }
}
