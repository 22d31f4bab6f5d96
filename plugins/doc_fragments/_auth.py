# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    # Galaxy renders the documentation of a collection without its dependencies, so it cannot read the
    # fragment of kubernetes.core, whose options these are.
    DOCUMENTATION = r"""
options:
  host:
    description:
      - The URL of the API server.
      - If the option is not set, the environment variable E(K8S_AUTH_HOST) is used.
    type: str
  api_key:
    description:
      - A token for the API server.
      - If the option is not set, the environment variable E(K8S_AUTH_API_KEY) is used.
    type: str
  kubeconfig:
    description:
      - The path of a kubeconfig file, several paths separated by C(:), or the content of a kubeconfig as a
        dictionary.
      - If the option is not set, the environment variable E(K8S_AUTH_KUBECONFIG) is used.
      - If no option and no variable names a cluster, the path comes from E(KUBECONFIG), and without that
        variable it is C(~/.kube/config). Without this file, a pod uses its service account.
    type: raw
  context:
    description:
      - The context of the kubeconfig to use. The default is the current context.
      - If the option is not set, the environment variable E(K8S_AUTH_CONTEXT) is used.
    type: str
  username:
    description:
      - The user who logs in to OpenShift's OAuth server, together with O(password).
      - The login needs the Python package C(openshift), and an identity provider that accepts passwords.
      - If the option is not set, the environment variable E(K8S_AUTH_USERNAME) is used.
    type: str
  password:
    description:
      - The password of O(username).
      - If the option is not set, the environment variable E(K8S_AUTH_PASSWORD) is used.
    type: str
  client_cert:
    description:
      - The path of a client certificate.
      - If the option is not set, the environment variable E(K8S_AUTH_CERT_FILE) is used.
    type: path
    aliases: [cert_file]
  client_key:
    description:
      - The path of the client certificate's key. The key must not have a password.
      - If the option is not set, the environment variable E(K8S_AUTH_KEY_FILE) is used.
    type: path
    aliases: [key_file]
  ca_cert:
    description:
      - The path of a file with the certificate authorities of the API server, as a full chain.
      - If the option is not set, the environment variable E(K8S_AUTH_SSL_CA_CERT) is used.
    type: path
    aliases: [ssl_ca_cert]
  validate_certs:
    description:
      - Whether to check the certificate of the API server. Every task warns if this is V(false).
      - If the option is not set, the environment variable E(K8S_AUTH_VERIFY_SSL) is used.
    type: bool
    aliases: [verify_ssl]
  proxy:
    description:
      - The URL of an HTTP proxy for the connection.
      - If the option is not set, the environment variable E(K8S_AUTH_PROXY) is used.
    type: str
  no_proxy:
    description:
      - Hosts, domains and networks that are reached without the proxy, separated by commas, for example
        C(localhost,.example.com,10.0.0.0/8).
      - If the option is not set, the environment variable E(K8S_AUTH_NO_PROXY) is used.
    type: str
  proxy_headers:
    description: Headers for the proxy.
    type: dict
    suboptions:
      proxy_basic_auth:
        description:
          - User and password for the proxy, separated by a colon.
          - If the option is not set, the environment variable
            E(K8S_AUTH_PROXY_HEADERS_PROXY_BASIC_AUTH) is used.
        type: str
      basic_auth:
        description:
          - User and password for basic authentication, separated by a colon.
          - If the option is not set, the environment variable E(K8S_AUTH_PROXY_HEADERS_BASIC_AUTH) is used.
        type: str
      user_agent:
        description:
          - The user agent that the proxy sees, for example C(foo/1.0).
          - If the option is not set, the environment variable E(K8S_AUTH_PROXY_HEADERS_USER_AGENT) is used.
        type: str
  persist_config:
    description:
      - Whether to write a token that an OIDC issuer renewed back to the kubeconfig file.
      - If the option is not set, the environment variable E(K8S_AUTH_PERSIST_CONFIG) is used.
    type: bool
  impersonate_user:
    description:
      - The user to impersonate.
      - If the option is not set, the environment variable E(K8S_AUTH_IMPERSONATE_USER) is used.
    type: str
  impersonate_groups:
    description:
      - The groups to impersonate.
      - If the option is not set, the environment variable E(K8S_AUTH_IMPERSONATE_GROUPS) is used. It
        separates groups with commas.
    type: list
    elements: str
notes:
  - The cluster and the identity come from one source. A task that names a cluster uses no token of the
    environment, and O(kubeconfig) cannot be combined with O(host) or O(api_key). The error is C(CRED-MIXED).
"""
